package dev.sluice.bench;

import dev.sluice.bench.peer.Body;
import dev.sluice.testkit.TextTable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Loads a server over many connections: the program wrk. */
final class LoadTool {
    private static final String PROGRAM = "wrk";
    private static final int ATTEMPTS = 5;
    private static final int PATIENCE_SECONDS = 10;
    /** Its figures come through a script, because its report rounds them. */
    private static final Pattern REPORT = Pattern.compile("measured (\\d+) requests in (\\d+) us, (\\d+) failed");

    private LoadTool() {}

    /** What was done: requests answered with success in so many seconds, and those that failed. */
    record Done(long requests, double seconds, long failed) {}

    static boolean isInstalled() {
        try {
            return !version().isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    /** {@return program and version, as it tells them: the first two words} */
    static String version() throws IOException {
        String[] told = output(List.of(PROGRAM, "--version"), PATIENCE_SECONDS).split("\\s+", 3);
        return told[0] + " " + told[1];
    }

    static Done run(Body body, int port, String path, int connections, int seconds) throws IOException {
        Path content = Files.createTempFile("sluice", ".bin");
        content.toFile().deleteOnExit();
        try (InputStream bytes = body.stream(0)) {
            Files.write(content, bytes.readAllBytes());
        }
        Path script = Files.createTempFile("sluice", ".lua");
        script.toFile().deleteOnExit();
        Files.writeString(script, TextTable.text("/dev/sluice/bench/wrk.lua").formatted(content, body.contentType()));
        String command = "%s -t1 -c%d -d%ds --timeout 30s -s %s http://127.0.0.1:%d%s"
                .formatted(PROGRAM, connections, seconds, script, port, path);
        for (int left = ATTEMPTS; ; left--) {
            String output = output(List.of(command.split(" ")), seconds + PATIENCE_SECONDS);
            Matcher figures = REPORT.matcher(output);
            if (figures.find()) {
                return new Done(
                        Long.parseLong(figures.group(1)),
                        Long.parseLong(figures.group(2)) / 1e6,
                        Long.parseLong(figures.group(3)));
            }
            if (left == 1) {
                throw new IOException(PROGRAM + " failed, or went on for ever:\n" + output);
            }
        }
    }

    /** {@return what a program writes; it is killed if it goes on} */
    static String output(List<String> command, int seconds) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        CompletableFuture<Void> end = CompletableFuture.runAsync(
                process::destroyForcibly, CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS));
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            end.cancel(false);
        }
    }
}
