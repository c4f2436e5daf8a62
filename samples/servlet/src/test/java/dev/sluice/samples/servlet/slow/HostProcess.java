package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** An {@link UploadHost} in a process of its own, on the class path of the tests. */
final class HostProcess implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 20;

    private final Path directory;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter questions;
    private final int port;

    /**
     * @param directory of its own; made below it are where uploads wait and what the process has to say
     * @param options of the virtual machine
     */
    HostProcess(UploadHost.Kind kind, Path directory, String... options) throws IOException {
        this.directory = directory;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), UploadHost.class.getName()));
        command.addAll(List.of(kind.name(), spool().toString()));
        this.process =
                new ProcessBuilder(command).redirectError(complaints().toFile()).start();
        this.answers = process.inputReader();
        this.questions = process.outputWriter();
        this.port = Integer.parseInt(line());
    }

    private Path spool() {
        return directory.resolve("spool");
    }

    private Path complaints() {
        return directory.resolve("err");
    }

    private String line() throws IOException {
        String line = answers.readLine();
        assertNotNull(line, () -> "the server has ended: " + complaint());
        return line;
    }

    private String complaint() {
        try {
            return Files.readString(complaints());
        } catch (IOException e) {
            return e.toString();
        }
    }

    int port() {
        return port;
    }

    /** {@return what it has in use now} */
    Vitals look() throws IOException {
        return ask("look");
    }

    /** {@return what it has in use after a collection of garbage} */
    Vitals collect() throws IOException {
        return ask("collect");
    }

    private Vitals ask(String question) throws IOException {
        questions.write(question);
        questions.newLine();
        questions.flush();
        return Vitals.ofLine(line());
    }

    /** {@return the first vitals that are as they should be; each look is a round trip to the process} */
    Vitals await(String what, Predicate<Vitals> condition) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        Vitals now = look();
        while (!condition.test(now)) {
            Vitals last = now;
            assertTrue(System.nanoTime() - end < 0, () -> what + ": " + last);
            now = look();
        }
        return now;
    }

    /** {@return its memory as the system counts it, in bytes} */
    long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(
                                line.replace("VmRSS:", "").replace("kB", "").strip())
                        << 10;
            }
        }
        throw new IOException("no VmRSS");
    }

    /** {@return the files of uploads that wait; not the directories and locks of the spool itself} */
    List<Path> uploads() throws IOException {
        try (Stream<Path> files = Files.walk(spool())) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> !file.toString().endsWith(".lock"))
                    .toList();
        }
    }

    /** Ends the process as its input ends, and sees to it that it had nothing to complain of and left nothing. */
    void end() throws IOException, InterruptedException {
        questions.close();
        assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), "the server did not end");
        assertEquals("", complaint());
        assertEquals(0, process.exitValue());
        try (Stream<Path> left = Files.walk(directory)) {
            assertEquals(
                    List.of(),
                    left.filter(file -> file.startsWith(spool()) && !file.equals(spool()))
                            .toList());
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
