<?php
// PHP on its own server. The file is also /api/login/index.php and /graphql/index.php, which that
// server finds; whatever else comes is routed as a front controller does.
$script = dirname($_SERVER['SCRIPT_NAME']);
$path = $script === '/' ? rawurldecode((string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) : $script;
$handler = 'other';
if ($path === '/api/login') {
    $handler = 'login';
} elseif ($path === '/graphql' || strncmp($path, '/graphql/', 9) === 0) {
    $handler = 'mount';
}

// All texts in a value, which may be an array.
function texts($value) {
    $found = [];
    array_walk_recursive($value, function ($text) use (&$found) { $found[] = $text; });
    return $found;
}

$authorization = [];
if (isset($_SERVER['PHP_AUTH_USER'])) {
    $authorization[] = "basic {$_SERVER['PHP_AUTH_USER']}:" . ($_SERVER['PHP_AUTH_PW'] ?? '');
} elseif (preg_match('/^(\S+)\s+(\S+)/', $_SERVER['HTTP_AUTHORIZATION'] ?? '', $words)) {
    $authorization[] = strtolower($words[1]) . ' ' . $words[2];
}

header('X-Read: ' . json_encode([
    'handler' => $handler,
    'method' => $_SERVER['REQUEST_METHOD'],
    'query' => texts((array) ($_GET['api_key'] ?? [])),
    'cookie' => texts((array) ($_COOKIE['session_id'] ?? [])),
    'authorization' => $authorization,
], JSON_INVALID_UTF8_SUBSTITUTE));
