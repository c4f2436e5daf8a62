<?php
// Responds to a form with the parts that PHP finds. The README describes the response.
function leaves(string $name, mixed $value, callable $leaf): void {
    if (!is_array($value)) {
        $leaf($name, $value);
        return;
    }
    foreach ($value as $key => $each) {
        leaves($name . (is_int($key) ? '[]' : "[$key]"), $each, $leaf);
    }
}

$lines = [$_SERVER['CONTENT_LENGTH'] ?? 'chunked'];
foreach ($_POST as $name => $value) {
    leaves($name, $value, function ($name, $value) use (&$lines) {
        $lines[] = "$name\t-\t" . hash('sha256', $value);
    });
}
foreach ($_FILES as $name => $file) {
    $content = $file['tmp_name'] === '' ? '' : file_get_contents($file['tmp_name']);
    $lines[] = "$name\t{$file['name']}\t" . hash('sha256', $content);
}
header('Content-Type: text/plain; charset=utf-8');
echo implode("\n", $lines);
