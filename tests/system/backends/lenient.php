<?php
// A front controller in PHP whose patterns ignore letter case and a slash at the end.
$path = rawurldecode(strtok($_SERVER['REQUEST_URI'], '?'));
$handler = 'other';
foreach (explode(' ', getenv('PATHS')) as $known) {
    $ending = $known[0] === '=' ? '/?$' : '(/|$)';
    if ($handler === 'other' && preg_match('~^' . preg_quote(ltrim($known, '='), '~') . $ending . '~iu', $path)) {
        $handler = $known;
    }
}
header('X-Read: ' . json_encode(['handler' => $handler]));
$is_json = ($_SERVER['CONTENT_TYPE'] ?? '') === 'application/json';
$said = $is_json ? json_decode(file_get_contents('php://input'), true) : $_POST;
if (isset($said['password'])) {
    $right = $said['password'] === 'right';
    if ($is_json) {
        http_response_code($right ? 200 : 401);
    } elseif ($right) {
        header('Location: /welcome', true, 302);
    } else {
        echo 'wrong';
    }
}
