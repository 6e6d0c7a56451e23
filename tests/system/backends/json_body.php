<?php
// PHP, which reads JSON from the body as frameworks do, whatever its type.
$body = json_decode(file_get_contents('php://input'), true);
if (json_last_error() !== JSON_ERROR_NONE) {
    http_response_code(400);
    return;
}
$params = is_array($body) ? ($body['params'] ?? null) : null;
header('X-Read: ' . json_encode([
    'model' => is_array($body) ? ($body['model'] ?? null) : null,
    'name' => is_array($params) ? ($params['name'] ?? null) : null,
], JSON_PARTIAL_OUTPUT_ON_ERROR));
