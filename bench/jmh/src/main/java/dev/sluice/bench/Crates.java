package dev.sluice.bench;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The measurement of parsers written in Rust, by the program in {@code bench/crates}, with one process per fork. */
final class Crates {
    /** The name of the benchmark in the suite. Its parameter {@code crate} is the parser. */
    static final String BENCHMARK = "Crate.decode";

    private static final Path FOLDER = Run.BENCH.resolve("crates");
    private static final Path TARGET = FOLDER.resolve("target");

    private Crates() {}

    /**
     * Compiles the program.
     *
     * @return false if cargo is not installed
     * @throws IOException if the program does not compile
     */
    static boolean build(Consumer<String> out) throws IOException, InterruptedException {
        // s3s-multipart declares a newer compiler than it needs.
        List<String> cargo = List.of("cargo", "build", "--quiet", "--release", "--locked", "--ignore-rust-version");
        Process build;
        try {
            build = new ProcessBuilder(cargo)
                    .directory(FOLDER.toFile())
                    .inheritIO()
                    .start();
        } catch (IOException e) {
            out.accept("The crates are skipped, because cargo cannot be started: " + e.getMessage());
            return false;
        }
        if (build.waitFor() != 0) {
            throw new IOException(FOLDER + " does not compile");
        }
        return true;
    }

    /**
     * Runs one fork.
     *
     * @param scenario the name of the file in which the body is kept
     * @return the mean time of each iteration, in microseconds
     * @throws IOException if the parser fails or does not find the parts of the body
     */
    static List<Double> fork(String crate, String scenario, Body body, int chunk, Effort effort) throws IOException {
        Path file = TARGET.resolve(scenario + ".body");
        write(body, file);
        Process process = new ProcessBuilder(
                        TARGET.resolve("release").resolve("sluice-crates").toString(),
                        crate,
                        file.toString(),
                        body.boundary(),
                        Integer.toString(chunk),
                        Integer.toString(effort.warmups),
                        Integer.toString(effort.iterations),
                        Integer.toString(Effort.MILLIS))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<String> lines = process.inputReader().lines().toList();
        String expected = switch (crate) {
            case "memmem", "copy" -> null;
            default ->
                body.truth().parts() + " " + body.truth().bytes() + " "
                        + body.truth().nameChars();
        };
        return times(lines, expected, crate);
    }

    private static List<Double> times(List<String> lines, @Nullable String expected, String crate) throws IOException {
        if (lines.isEmpty()) {
            throw new IOException(crate + " failed");
        }
        if (expected != null && !lines.get(0).equals(expected)) {
            throw new IOException(
                    "%s finds '%s' instead of '%s' (the numbers of parts, of bytes, and of characters in names)"
                            .formatted(crate, lines.get(0), expected));
        }
        List<Double> times = new ArrayList<>();
        lines.subList(1, lines.size()).forEach(line -> times.add(Double.valueOf(line)));
        return times;
    }

    private static void write(Body body, Path file) throws IOException {
        if (Files.exists(file) && Files.size(file) == body.size()) {
            return; // the bytes of a body never change
        }
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
            for (Slice piece : body.pieces()) {
                out.write(piece.array(), piece.offset(), piece.length());
            }
        }
    }
}
