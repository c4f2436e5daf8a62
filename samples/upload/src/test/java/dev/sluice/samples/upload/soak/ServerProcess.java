package dev.sluice.samples.upload.soak;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A server in a process of its own, with the class path of the tests. It prints its port and then answers each input
 * line with its {@link Vitals}. It exits at the end of its input, so it ends with its parent process.
 */
public final class ServerProcess implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 180;
    private static final int MOST_SHOWN = 4_000;
    private static final String COLLECT = "collect";

    private final Path errors;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter questions;
    private final int port;

    /**
     * Starts a server and returns when it accepts connections.
     *
     * @param errors the file for its error output
     * @param main the main class, which calls {@link #answer}
     * @param options the options of the JVM
     * @param arguments the arguments of the program
     */
    public ServerProcess(Path errors, Class<?> main, List<String> options, Object... arguments) throws IOException {
        this.errors = errors;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        // Limits the C library's memory pools, so that growth of resident memory indicates a leak.
        builder.environment().put("MALLOC_ARENA_MAX", "2");
        this.process = builder.start();
        this.answers = process.inputReader();
        this.questions = process.outputWriter();
        this.port = Integer.parseInt(line());
    }

    /** Runs in the server process: answers until the input ends. */
    public static void answer(int port, Supplier<Vitals> vitals) throws IOException {
        System.out.println(port);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals(COLLECT)) {
                System.gc();
                System.gc(); // the first collection only enqueues references
            }
            System.out.println(Records.tree(vitals.get()));
        }
    }

    private String line() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the server exited: " + errorOutput());
        }
        return line;
    }

    public String errorOutput() throws IOException {
        return Files.readString(errors);
    }

    public int port() {
        return port;
    }

    public Vitals look() throws IOException {
        return ask("look");
    }

    /** {@return the resources in use after a garbage collection} */
    public Vitals collect() throws IOException {
        return ask(COLLECT);
    }

    private Vitals ask(String question) throws IOException {
        questions.write(question);
        questions.newLine();
        questions.flush();
        return Records.vitals(line());
    }

    /** {@return the first vitals that match; each attempt is a round trip to the process} */
    public Vitals await(String what, Predicate<Vitals> condition) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        Vitals now = look();
        while (!condition.test(now)) {
            if (System.nanoTime() - end > 0) {
                throw new IOException(what + ": " + now);
            }
            now = look();
        }
        return now;
    }

    /** {@return the resident memory in bytes} */
    public long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("no VmRSS");
    }

    /** {@return the start of the error output, for failure messages} */
    @Override
    public String toString() {
        try {
            String all = errorOutput();
            return all.substring(0, Math.min(all.length(), MOST_SHOWN));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Ends the process by closing its input. */
    public void end() throws IOException, InterruptedException {
        questions.close();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("the server did not exit cleanly: " + errorOutput());
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
