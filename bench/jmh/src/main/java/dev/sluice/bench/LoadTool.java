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

/** The program {@code wrk}, which sends requests to a server over many connections. */
final class LoadTool {
    private static final String PROGRAM = "wrk";
    private static final int ATTEMPTS = 5;
    private static final int GRACE_SECONDS = 10;
    /** The output of this benchmark's script for wrk. The figures in wrk's own report are rounded. */
    private static final Pattern REPORT = Pattern.compile("measured (\\d+) requests in (\\d+) us, (\\d+) failed");

    private LoadTool() {}

    /**
     * The result of a run.
     *
     * @param requests the number of successful requests
     */
    record Done(long requests, double seconds, long failed) {}

    static boolean isInstalled() {
        try {
            return !version().isEmpty();
        } catch (IOException e) {
            return false;
        }
    }

    static String version() throws IOException {
        String[] words = output(List.of(PROGRAM, "--version"), GRACE_SECONDS).split("\\s+", 3);
        return words[0] + " " + words[1];
    }

    static Done run(Body body, int port, String path, int connections, int seconds) throws IOException {
        Path content = Files.createTempFile("sluice", ".bin");
        Path script = Files.createTempFile("sluice", ".lua");
        try {
            try (InputStream bytes = body.stream(0)) {
                Files.write(content, bytes.readAllBytes());
            }
            Files.writeString(
                    script, TextTable.text("/dev/sluice/bench/wrk.lua").formatted(content, body.contentType()));
            return run(
                    "%s -t1 -c%d -d%ds --timeout 30s -s %s http://127.0.0.1:%d%s"
                            .formatted(PROGRAM, connections, seconds, script, port, path),
                    seconds);
        } finally {
            Files.delete(content);
            Files.delete(script);
        }
    }

    private static Done run(String command, int seconds) throws IOException {
        for (int left = ATTEMPTS; ; left--) {
            String output = output(List.of(command.split(" ")), seconds + GRACE_SECONDS);
            Matcher figures = REPORT.matcher(output);
            if (figures.find()) {
                return new Done(
                        Long.parseLong(figures.group(1)),
                        Long.parseLong(figures.group(2)) / 1e6,
                        Long.parseLong(figures.group(3)));
            }
            if (left == 1) {
                throw new IOException(PROGRAM + " failed or timed out:\n" + output);
            }
        }
    }

    /** Runs a program and returns its output. A program that runs longer than {@code seconds} is killed. */
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
