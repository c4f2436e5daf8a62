<?php
// Reads forms with PHP's own parser, which runs only for a request. The README of the suite describes the protocol.
// In the built-in server, this script responds to a form with all values of $_POST and $_FILES.
function packed(?string $value): string {
    return $value === null ? pack('N', 0xFFFFFFFF) : pack('N', strlen($value)) . $value;
}

function leaves(array $values, string $path, callable $leaf): void {
    foreach ($values as $key => $value) {
        $name = $path === '' ? (string) $key : $path . '[' . $key . ']';
        is_array($value) ? leaves($value, $name, $leaf) : $leaf($name, $value);
    }
}

if (PHP_SAPI === 'cli-server') {
    $out = '';
    $count = 0;
    leaves($_POST, '', function ($name, $value) use (&$out, &$count) {
        $out .= packed($name) . packed(null) . packed($value);
        $count++;
    });
    foreach ($_FILES as $name => $file) {
        $names = is_array($file['name']) ? $file['name'] : [$file['name']];
        $places = [];
        leaves(['x' => $file['tmp_name']], '', function ($at, $value) use (&$places) { $places[$at] = $value; });
        leaves(['x' => $file['name']], '', function ($at, $value) use (&$out, &$count, $places, $name) {
            $place = $places[$at];
            if ($value !== '') {
                $out .= packed($name . substr($at, 1)) . packed($value) . packed($place === '' ? '' : file_get_contents($place));
                $count++;
            }
        });
    }
    header_remove();
    header('Content-Type: application/octet-stream');
    echo "\1" . pack('N', $count) . $out;
    return;
}

function taken(string $from, int &$at): string {
    $size = unpack('N', $from, $at)[1];
    $at += 4 + $size;
    return substr($from, $at - $size, $size);
}

function ask(int $port, string $type, string $body): string {
    $socket = stream_socket_client("tcp://127.0.0.1:$port", $code, $message, 10);
    fwrite($socket, "POST / HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: $type\r\nContent-Length: " . strlen($body) . "\r\n\r\n" . $body);
    $answer = stream_get_contents($socket);
    fclose($socket);
    $at = strpos($answer, "\r\n\r\n");
    if ($at === false || !str_contains(substr($answer, 0, 20), ' 200 ')) {
        fwrite(STDERR, "$answer\n");
        exit(1);
    }
    return substr($answer, $at + 4);
}

function full(int $size): ?string {
    $data = '';
    while (strlen($data) < $size) {
        $more = fread(STDIN, $size - strlen($data));
        if ($more === '' || $more === false) {
            return null;
        }
        $data .= $more;
    }
    return $data;
}

$free = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($free, false), ':'), 1);
fclose($free);
$settings = ['upload_max_filesize=1G', 'post_max_size=1G', 'max_file_uploads=1000', 'default_charset=UTF-8', 'display_errors=0', 'log_errors=0'];
$command = [PHP_BINARY, '-n'];
foreach ($settings as $setting) {
    array_push($command, '-d', $setting);
}
array_push($command, '-q', '-S', "127.0.0.1:$port", __FILE__);
$server = proc_open($command, [['pipe', 'r'], ['file', '/dev/null', 'w'], ['file', '/dev/null', 'w']], $pipes);
register_shutdown_function(fn() => proc_terminate($server));
for ($tries = 0; !($socket = @stream_socket_client("tcp://127.0.0.1:$port")) && $tries < 100; $tries++) {
    usleep(50000);
}
fclose($socket);
fwrite(STDOUT, packed(PHP_VERSION));
fflush(STDOUT);
while (($header = full(4)) !== null) {
    $batch = full(unpack('N', $header)[1]);
    $reply = '';
    for ($at = 0; $at < strlen($batch);) {
        $type = taken($batch, $at);
        $at += 4; // the server receives the body before PHP reads it
        $reply .= ask($port, $type, taken($batch, $at));
    }
    fwrite(STDOUT, packed($reply));
    fflush(STDOUT);
}
