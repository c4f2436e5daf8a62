package dev.sluice.fuzz;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A runner of the fuzzing engine, Jazzer on libFuzzer, in a separate JVM. */
final class Fuzzer {
    private static final String ENGINE = "com.code_intelligence.jazzer.Jazzer";
    private static final String INITED = "INITED";
    private static final String EXECUTED = "stat::number_of_executed_units:";
    private static final int LAST_LINES = 60;

    /** The library in all its packages, and {@link dev.sluice.testkit.ReferenceParser}. */
    private static final String INSTRUMENTED = "dev.sluice.**";

    private static final String TARGETS = "dev.sluice.fuzz.**";
    private static final String TESTKIT = "dev.sluice.testkit.**";

    private final Target target;
    private final Path directory;
    private final String classPath;

    /**
     * The result of a run.
     *
     * @param executions the number of executions of the target
     * @param seconds the duration of the run, including the start of the JVM
     * @param found whether the target failed
     * @param coverageBefore the number of edges reached by the seeds and the corpus of earlier runs
     * @param coverage the number of edges reached
     * @param output the last lines of the engine's output
     */
    record Run(long executions, long seconds, boolean found, long coverageBefore, long coverage, String output) {}

    /**
     * @param directory the directory for the fuzzer's corpus and its findings
     * @param classPath the class path of the target and the engine
     */
    Fuzzer(Target target, Path directory, String classPath) {
        this.target = target;
        this.directory = directory.resolve(target.toString());
        this.classPath = classPath;
    }

    /** {@return the directory of the inputs that made the target fail} */
    Path findings() {
        return directory.resolve("findings");
    }

    /**
     * Runs for the given time or number of executions, whichever ends first; 0 means no limit.
     *
     * @param comparisons whether the engine also uses the values that the target compares, which makes the run several
     *     times slower
     * @param seed the seed of the mutations, to repeat a run; 0 for a different one each time
     */
    Run run(long seconds, long executions, boolean comparisons, int seed) throws IOException, InterruptedException {
        Path corpus = Files.createDirectories(directory.resolve("corpus"));
        Path seeds = directory.resolve("seeds");
        Seeds.write(target, seeds);
        Files.createDirectories(findings());
        Path words = directory.resolve("words.txt");
        Files.writeString(words, Tokens.dictionary(), StandardCharsets.US_ASCII);

        String excluded = target.usesReference() ? TARGETS : TARGETS + ":" + TESTKIT;
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+IgnoreUnrecognizedVMOptions",
                "-XX:+EnableDynamicAgentLoading",
                "-XX:+UseSerialGC",
                "-Xms384m",
                "-Xmx384m",
                "-Xmn256m",
                "-Dio.netty.leakDetection.level=disabled",
                "-cp",
                classPath,
                ENGINE,
                "--target_class=" + target.className(),
                "--instrumentation_includes=" + INSTRUMENTED,
                "--instrumentation_excludes=" + excluded,
                "--custom_hook_includes=" + INSTRUMENTED,
                "--custom_hook_excludes=" + excluded,
                "--mutator_framework=false",
                "--trace=" + (comparisons ? "all" : "cov"),
                "--reproducer_path=" + findings(),
                "-artifact_prefix=" + findings() + "/",
                "-max_len=" + target.largest(),
                "-dict=" + words,
                "-timeout=30",
                "-rss_limit_mb=0",
                "-reload=0",
                "-seed=" + seed,
                "-print_final_stats=1"));
        if (seconds > 0) {
            command.add("-max_total_time=" + seconds);
        }
        if (executions > 0) {
            command.add("-runs=" + executions);
        }
        command.add(corpus.toString());
        command.add(seeds.toString());
        return counted(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    private static Run counted(Process process) throws IOException, InterruptedException {
        long started = System.nanoTime();
        long counted = 0;
        long shown = 0;
        long coverageBefore = 0;
        long coverage = 0;
        Deque<String> last = new ArrayDeque<>();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line; (line = lines.readLine()) != null; ) {
                if (line.startsWith(EXECUTED)) {
                    counted = Long.parseLong(line.substring(EXECUTED.length()).strip());
                } else if (line.startsWith("#")) {
                    shown = Math.max(shown, numberAfter(line, "#"));
                    coverage = Math.max(coverage, numberAfter(line, " cov: "));
                    coverageBefore = line.contains(INITED) ? coverage : coverageBefore;
                }
                if (last.size() == LAST_LINES) {
                    last.removeFirst();
                }
                last.addLast(line);
            }
        } finally {
            process.destroy();
        }
        int exit = process.waitFor();
        long seconds = (System.nanoTime() - started) / 1_000_000_000;
        return new Run(Math.max(counted, shown), seconds, exit != 0, coverageBefore, coverage, String.join("\n", last));
    }

    private static long numberAfter(String line, String mark) {
        Matcher number = Pattern.compile(mark + "(\\d+)").matcher(line);
        return number.find() ? Long.parseLong(number.group(1)) : 0;
    }
}
