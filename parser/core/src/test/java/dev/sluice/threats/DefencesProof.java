package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * A proof that tests detect missing defences: removes one defence at a time, in a copy, and requires the named test to fail. Not part
 * of a normal build; {@code .ci/prove-defences} runs it.
 *
 * <p>{@code -Dsluice.defences} names some of them; {@code short} takes every sixth, another one each day.
 */
class DefencesProof {
    private static final int SHORT = 6;
    private static final long SECONDS = 300;
    private static final Path CORE = Path.of("parser/core");
    private static final Path SERVLET = Path.of("parser/servlet");

    private final Path root = ThreatsDocumentTest.root().toAbsolutePath().normalize();
    private final List<Path> classPath = Stream.of(
                    System.getProperty("java.class.path").split(File.pathSeparator))
            .map(entry -> Path.of(entry).toAbsolutePath().normalize())
            .toList();
    private final List<Path> servletPath = servletPath();

    /** The modules whose tests run with their own class path. */
    private enum Suite {
        CORE,
        BUFFER,
        SERVLET;

        static Suite of(String test) {
            return test.startsWith("dev.sluice.buffer.")
                    ? BUFFER
                    : test.startsWith("dev.sluice.servlet.") ? SERVLET : CORE;
        }
    }

    private record Result(Sabotage sabotage, String verdict, String how, long millis) {
        boolean isCaught() {
            return verdict.equals("caught");
        }

        @Override
        public String toString() {
            return String.format("%-9s %6.1f s  %-44s %s", verdict, millis / 1000.0, sabotage, how);
        }
    }

    @Test
    void everyDefenceThatIsTakenAwayIsMissed() throws Exception {
        List<Sabotage> sabotages = chosen();
        Set<String> tests = new TreeSet<>();
        sabotages.forEach(sabotage -> tests.addAll(sabotage.tests));
        Path work = Files.createTempDirectory("defences-");
        ExecutorService executor =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        List<Result> results = new ArrayList<>();
        try {
            Path untouched = Files.createDirectory(work.resolve("untouched"));
            long start = System.nanoTime();
            assertEquals(
                    ForkedRun.PASSED,
                    run(untouched, Map.of(), new ArrayList<>(tests)),
                    () -> "with all defences in place: " + output(untouched));
            System.out.printf("all %d tests pass, in %.1f s%n", tests.size(), (System.nanoTime() - start) / 1e9);
            List<Future<Result>> futures = new ArrayList<>();
            for (Sabotage sabotage : sabotages) {
                futures.add(executor.submit(() -> tryOut(sabotage, work.resolve(sabotage.id))));
            }
            for (Future<Result> future : futures) {
                Result result = future.get();
                System.out.println(result);
                results.add(result);
            }
        } finally {
            executor.shutdownNow();
            delete(work);
        }
        List<String> unnoticed = results.stream()
                .filter(result -> !result.isCaught())
                .map(Result::toString)
                .toList();
        System.out.println(
                results.size() + " defences taken away, " + (results.size() - unnoticed.size()) + " noticed");
        assertEquals(List.of(), unnoticed);
    }

    private static List<Sabotage> chosen() throws IOException {
        List<Sabotage> all = DefencesTest.sabotages();
        String choice = System.getProperty("sluice.defences", "").strip();
        if (choice.isEmpty() || choice.equals("all")) {
            return all;
        }
        if (choice.equals("short")) {
            long day = TimeUnit.MILLISECONDS.toDays(System.currentTimeMillis());
            List<Sabotage> some = new ArrayList<>();
            for (int i = (int) (day % SHORT); i < all.size(); i += SHORT) {
                some.add(all.get(i));
            }
            return some;
        }
        Set<String> ids = Set.of(choice.split("[ ,]+"));
        List<Sabotage> named =
                all.stream().filter(sabotage -> ids.contains(sabotage.id)).toList();
        assertEquals(ids.size(), named.size(), () -> "unknown among " + ids);
        return named;
    }

    private Result tryOut(Sabotage sabotage, Path work) throws IOException, InterruptedException {
        long start = System.nanoTime();
        Files.createDirectory(work);
        String verdict;
        String how = "";
        try {
            int code = run(work, sabotage.apply(root), sabotage.tests);
            verdict = switch (code) {
                case ForkedRun.FAILED -> "caught";
                case ForkedRun.SOME_FAILED -> "IN PART";
                case ForkedRun.PASSED -> "SURVIVED";
                case ForkedRun.NO_TESTS -> "NO TESTS";
                default -> "BROKEN";
            };
            how = verdict.equals("BROKEN") ? output(work) : firstFailure(work);
        } catch (IllegalArgumentException | IllegalStateException e) {
            verdict = "BROKEN";
            how = e.getMessage();
        }
        delete(work);
        return new Result(sabotage, verdict, how, (System.nanoTime() - start) / 1_000_000);
    }

    /** What the build has written down, with the containers; core comes first, and does not know them. */
    private List<Path> servletPath() {
        try {
            List<Path> path = new ArrayList<>();
            path.add(root.resolve(SERVLET).resolve("target/test-classes"));
            path.add(root.resolve(SERVLET).resolve("target/classes"));
            String written = Files.readString(root.resolve(SERVLET).resolve("target/test-class-path"));
            for (String entry : written.strip().split(File.pathSeparator)) {
                path.add(Path.of(entry));
            }
            classPath.stream().filter(entry -> !path.contains(entry)).forEach(path::add);
            return path;
        } catch (IOException e) {
            throw new UncheckedIOException("run .ci/prove-defences, which has it written", e);
        }
    }

    /**
     * Compiles these sources in place of those that are there, and runs tests of one module or of more.
     *
     * @return as {@link ForkedRun}; of more than one module, what their codes have in common
     */
    private int run(Path work, Map<String, String> changed, List<String> tests)
            throws IOException, InterruptedException {
        for (String module : Sources.DEPLOYED) {
            copy(root.resolve(module).resolve("src/main"), work.resolve(module).resolve("src/main"));
        }
        for (Map.Entry<String, String> file : changed.entrySet()) {
            Files.writeString(work.resolve(file.getKey()), file.getValue());
        }
        Set<Path> modules = changed.keySet().stream()
                .map(file -> Path.of(file.substring(0, file.indexOf("/src/"))))
                .collect(Collectors.toSet());
        Map<Path, Path> overlays = new HashMap<>();
        for (Path module : modules) {
            Path classes = root.resolve(module).resolve("target/classes");
            Path overlay = work.resolve(module).resolve("classes");
            copy(classes, overlay);
            Files.deleteIfExists(overlay.resolve("module-info.class"));
            overlays.put(classes, overlay);
        }
        for (Path module : modules) {
            compile(work, module, changed.keySet(), overlaid(servletPath, overlays));
        }
        Map<Suite, List<String>> bySuite = tests.stream().collect(Collectors.groupingBy(Suite::of));
        Set<Integer> codes = new TreeSet<>();
        for (Map.Entry<Suite, List<String>> suite : bySuite.entrySet()) {
            List<Path> path = overlaid(suite.getKey() == Suite.SERVLET ? servletPath : classPath, overlays);
            if (suite.getKey() == Suite.BUFFER) {
                path.add(root.resolve("buffer/target/test-classes"));
            }
            codes.add(run(work, path, suite.getValue()));
        }
        return codes.size() == 1 ? codes.iterator().next() : ForkedRun.SOME_FAILED;
    }

    /** {@return the class path with the overlays of its changed modules} */
    private static List<Path> overlaid(List<Path> path, Map<Path, Path> overlays) {
        List<Path> all = new ArrayList<>();
        List<Path> others = new ArrayList<>();
        for (Path entry : path) {
            Path overlay = overlays.get(entry);
            (overlay != null ? all : others).add(overlay != null ? overlay : entry);
        }
        all.addAll(others);
        return all;
    }

    private int run(Path work, List<Path> path, List<String> tests) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx768m",
                "-XX:+UseParallelGC",
                "-XX:TieredStopAtLevel=1",
                "-Dsluice.rootDir=" + root,
                "-cp",
                join(path),
                ForkedRun.class.getName()));
        command.addAll(tests);
        Process process = new ProcessBuilder(command)
                .directory(work.resolve(CORE).toFile())
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(work.resolve("output").toFile()))
                .start();
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the tests hang");
            }
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private static void compile(Path work, Path module, Set<String> files, List<Path> path) {
        List<String> arguments = new ArrayList<>(List.of(
                "--release",
                "17",
                "-proc:none",
                "-nowarn",
                "-d",
                work.resolve(module).resolve("classes").toString(),
                "-cp",
                join(path)));
        files.stream()
                .filter(file -> file.startsWith(module + "/src/"))
                .forEach(file -> arguments.add(work.resolve(file).toString()));
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        if (ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments.toArray(String[]::new)) != 0) {
            throw new IllegalStateException("does not compile: " + said.toString(StandardCharsets.UTF_8));
        }
    }

    private static String join(List<Path> path) {
        return path.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private static String firstFailure(Path work) {
        return output(work)
                .lines()
                .filter(line -> line.startsWith("failed: "))
                .findFirst()
                .map(line -> line.substring(8, Math.min(160, line.length())))
                .orElse("");
    }

    private static String output(Path work) {
        try {
            return Files.readString(work.resolve("output"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(path -> path.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
