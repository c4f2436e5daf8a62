package dev.sluice.samples.upload.clients;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** An external program used by the tests. */
public final class Program {
    static final long MAX_SECONDS = 240;

    private final Path file;

    private Program(Path file) {
        this.file = file;
    }

    /**
     * The result of a run.
     *
     * @param exitCode 0 on success
     * @param out the standard output
     * @param err the error output
     */
    public record Run(int exitCode, String out, String err) {}

    /** {@return the first of these names that is on the search path or is the path of a program} */
    public static Optional<Program> find(String... names) {
        for (String name : names) {
            if (name.indexOf(File.separatorChar) >= 0) {
                if (Files.isExecutable(Path.of(name))) {
                    return Optional.of(new Program(Path.of(name)));
                }
                continue;
            }
            for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
                Path candidate = Path.of(directory, name);
                if (Files.isExecutable(candidate) && !Files.isDirectory(candidate)) {
                    return Optional.of(new Program(candidate));
                }
            }
        }
        return Optional.empty();
    }

    public Path file() {
        return file;
    }

    /**
     * Starts the program with its output redirected to files in {@code directory}, so that it never blocks on a full
     * pipe.
     */
    public Process start(Path directory, List<String> arguments, Map<String, String> environment) throws IOException {
        return builder(arguments, environment)
                .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile())
                .start();
    }

    ProcessBuilder builder(List<String> arguments, Map<String, String> environment) {
        List<String> command = new ArrayList<>();
        command.add(file.toString());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        // A proxy that the environment defines must not be used for local addresses.
        builder.environment().put("NO_PROXY", "*");
        builder.environment().put("no_proxy", "*");
        builder.environment().putAll(environment);
        return builder;
    }

    public Run run(List<String> arguments, Map<String, String> environment) throws IOException, InterruptedException {
        try (Scratch scratch = Scratch.create()) {
            Path directory = scratch.directory();
            Process process = start(directory, arguments, environment);
            if (!process.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                throw new IOException(file + " did not end within " + MAX_SECONDS + " s");
            }
            return new Run(
                    process.exitValue(),
                    Files.readString(directory.resolve("out")),
                    Files.readString(directory.resolve("err")));
        }
    }

    public Run run(String... arguments) throws IOException, InterruptedException {
        return run(List.of(arguments), Map.of());
    }
}
