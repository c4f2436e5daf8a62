package dev.sluice.bench.endtoend;

import dev.sluice.bench.body.Body;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A program of others that loads a server over many connections. */
enum LoadTool {
    /** Tells its figures through a script, because its report rounds them. */
    WRK("wrk", Pattern.compile("measured (\\d+) requests in (\\d+) us, (\\d+) failed")) {
        @Override
        List<String> command(Path folder, Body body, String url, int connections, int seconds) throws IOException {
            Path script = folder.resolve("post.lua");
            Files.writeString(script, SCRIPT.formatted(folder.resolve(BODY), body.contentType()));
            return List.of(
                    "wrk",
                    "-t1",
                    "-c" + connections,
                    "-d" + seconds + "s",
                    "--timeout",
                    "30s",
                    "-s",
                    script.toString(),
                    url);
        }
    },
    H2LOAD(
            "h2load",
            Pattern.compile("(?s)requests: \\d+ total, \\d+ started, \\d+ done, (\\d+) succeeded, (\\d+) failed")) {
        @Override
        List<String> command(Path folder, Body body, String url, int connections, int seconds) {
            return List.of(
                    "h2load",
                    "--h1",
                    "-t1",
                    "-c" + connections,
                    "-D" + seconds,
                    "-d",
                    folder.resolve(BODY).toString(),
                    "-H",
                    "Content-Type: " + body.contentType(),
                    url);
        }

        @Override
        Load read(Matcher figures, int seconds) {
            return new Load(Long.parseLong(figures.group(1)), seconds, Long.parseLong(figures.group(2)));
        }
    };

    private static final int ATTEMPTS = 5;
    private static final int PATIENCE_SECONDS = 10;
    private static final String BODY = "body.bin";
    private static final String SCRIPT = """
        local file = io.open("%s", "rb")
        wrk.method = "POST"
        wrk.body = file:read("*a")
        wrk.headers["Content-Type"] = "%s"
        file:close()
        function done(summary, latency, requests)
          local e = summary.errors
          io.write(string.format("measured %%d requests in %%d us, %%d failed\\n", summary.requests, summary.duration,
            e.connect + e.read + e.write + e.status + e.timeout))
        end
        """;

    private final String program;
    private final Pattern report;

    LoadTool(String program, Pattern report) {
        this.program = program;
        this.report = report;
    }

    /**
     * What was done.
     *
     * @param requests answered with success
     * @param seconds that they took
     * @param failed without an answer, or with another one
     */
    record Load(long requests, double seconds, long failed) {}

    /** The first one that is installed. */
    static Optional<LoadTool> installed() {
        for (LoadTool tool : values()) {
            for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
                if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, tool.program))) {
                    return Optional.of(tool);
                }
            }
        }
        return Optional.empty();
    }

    /** {@return program and version, as it tells them: the first two words} */
    String version() throws IOException {
        Process process = new ProcessBuilder(program, "--version")
                .redirectErrorStream(true)
                .start();
        String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return Stream.of(told.split("\\s+", 3)).limit(2).collect(Collectors.joining(" "));
    }

    abstract List<String> command(Path folder, Body body, String url, int connections, int seconds) throws IOException;

    Load read(Matcher figures, int seconds) {
        return new Load(
                Long.parseLong(figures.group(1)),
                Long.parseLong(figures.group(2)) / 1e6,
                Long.parseLong(figures.group(3)));
    }

    /**
     * Loads a server.
     *
     * @param folder for the files that the program reads
     */
    Load run(Path folder, Body body, int port, int connections, int seconds) throws IOException {
        try (InputStream bytes = body.stream(0)) {
            Files.write(folder.resolve(BODY), bytes.readAllBytes());
        }
        List<String> command = command(folder, body, "http://127.0.0.1:" + port + "/upload", connections, seconds);
        for (int left = ATTEMPTS; ; left--) {
            String output = output(command, seconds + PATIENCE_SECONDS);
            Matcher figures = report.matcher(output);
            if (figures.find()) {
                return read(figures, seconds);
            }
            if (left == 1) {
                throw new IOException(program + " failed, or went on for ever:\n" + output);
            }
        }
    }

    /** {@return what a program writes; it is killed if it goes on, as h2load with 1,000 connections does now and then} */
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
