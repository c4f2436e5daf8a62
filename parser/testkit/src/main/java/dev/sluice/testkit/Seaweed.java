package dev.sluice.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A store that is distributed: SeaweedFS, with a master, three volume servers, every byte on two of them, a filer, and a
 * gateway that speaks S3. Its processes and files end with it, or with the JVM. {@code SLUICE_WEED} names the program.
 */
public final class Seaweed implements AutoCloseable {
    /** Who may do all, with {@link #SECRET}. */
    public static final String USER = "tests";

    public static final String SECRET = "secret-of-tests";

    private static final String IDENTITIES = """
            {"identities": [{"name": "tests", "actions": ["Admin", "Read", "List", "Tagging", "Write"],
              "credentials": [{"accessKey": "tests", "secretKey": "secret-of-tests"},
                              {"accessKey": "later", "secretKey": "secret-of-later"}]}]}
            """;

    private final Path directory;
    /** As many as a process may need: those that it has used come round again. */
    private static final int PORTS = 50;

    private static final AtomicInteger PORT = new AtomicInteger();

    private final Map<String, List<String>> commands = new LinkedHashMap<>();
    private final Map<String, Process> processes = new ConcurrentHashMap<>();
    private final int gateway;

    /** {@return the file of that name on the path, or the one that an environment variable names} */
    public static Optional<String> program(String variable, String name) {
        String paths = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/sbin";
        return Stream.concat(
                        Stream.of(System.getenv().getOrDefault(variable, "")),
                        Stream.of(paths.split(File.pathSeparator)).map(path -> path + '/' + name))
                .filter(path -> Files.isExecutable(Path.of(path)) && !Files.isDirectory(Path.of(path)))
                .findFirst();
    }

    /** {@return the program, if it is on this machine} */
    public static Optional<String> program() {
        return program("SLUICE_WEED", "weed");
    }

    /** Starts it; it takes some seconds more until it works. */
    public Seaweed() throws IOException {
        String program =
                program().orElseThrow(() -> new IOException("no weed (SeaweedFS) on this machine: set SLUICE_WEED"));
        directory = Files.createTempDirectory("weed");
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        int[] ports = freePorts(12);
        gateway = ports[10];
        String master = "127.0.0.1:" + ports[0] + '.' + ports[1];
        String filer = "127.0.0.1:" + ports[8] + '.' + ports[9];
        Files.writeString(directory.resolve("identities.json"), IDENTITIES);
        command(
                program,
                "master",
                ports[0],
                "-mdir=" + folder("master"),
                "-peers=none",
                "-defaultReplication=001",
                "-volumeSizeLimitMB=256",
                "-telemetry=false",
                "-ip=127.0.0.1",
                "-port.grpc=" + ports[1]);
        for (int i = 1; i <= 3; i++) {
            command(
                    program,
                    "volume" + i,
                    ports[2 * i],
                    "-dir=" + folder("volume" + i),
                    "-max=40",
                    "-master=" + master,
                    "-dataCenter=d",
                    "-rack=r",
                    "-ip=127.0.0.1",
                    "-port.grpc=" + ports[2 * i + 1]);
        }
        command(
                program,
                "filer",
                ports[8],
                "-master=" + master,
                "-defaultReplicaPlacement=001",
                "-defaultStoreDir=" + folder("filer"),
                "-ip=127.0.0.1",
                "-port.grpc=" + ports[9]);
        command(
                program,
                "s3",
                ports[10],
                "-filer=" + filer,
                "-config=" + directory.resolve("identities.json"),
                "-port.iceberg=0",
                "-port.lance=0",
                "-localSocket=",
                "-port.grpc=" + ports[11]);
        for (String name : commands.keySet()) {
            start(name);
        }
    }

    private String folder(String name) throws IOException {
        return Files.createDirectories(directory.resolve(name)).toString();
    }

    /**
     * {@return ports of 127.0.0.1 that nobody listens on now: below those that the system hands out, and others in each
     * process, so that nobody takes one before it is listened on}
     */
    public static int[] freePorts(int count) throws IOException {
        int first = 10_000 + (int) (ProcessHandle.current().pid() % 440) * PORTS;
        int[] ports = new int[count];
        for (int found = 0; found < count; ) {
            int port = first + Math.floorMod(PORT.getAndIncrement(), PORTS);
            try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                ports[found++] = free.getLocalPort();
            } catch (BindException e) {
                if (PORT.get() > 100 * PORTS) {
                    throw e;
                }
            }
        }
        return ports;
    }

    private void command(String program, String name, int port, String... options) {
        String kind = name.startsWith("volume") ? "volume" : name;
        List<String> command = new ArrayList<>(List.of(program, kind, "-port=" + port, "-ip.bind=127.0.0.1"));
        command.addAll(List.of(options));
        commands.put(name, command);
    }

    /** Starts {@code master}, {@code volume1} to {@code volume3}, {@code filer} or {@code s3}. */
    public void start(String name) throws IOException {
        File log = directory.resolve(name + ".log").toFile();
        processes.put(
                name,
                new ProcessBuilder(commands.get(name))
                        .directory(directory.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                        .start());
    }

    /** {@return the process of that name, dead or alive} */
    public Process process(String name) {
        return Objects.requireNonNull(processes.get(name), name);
    }

    /** Ends it at once, as by {@code kill -9}. */
    public void kill(String name) throws InterruptedException {
        process(name).destroyForcibly().waitFor();
    }

    /** {@return the port of the gateway} */
    public int port() {
        return gateway;
    }

    /** {@return where the gateway is} */
    public URI address() {
        return URI.create("http://127.0.0.1:" + gateway);
    }

    @Override
    public void close() {
        processes.values().forEach(Process::destroyForcibly);
        try {
            for (Process process : processes.values()) {
                process.waitFor();
            }
            if (Files.exists(directory)) {
                try (Stream<Path> files = Files.walk(directory)) {
                    for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                        Files.deleteIfExists(file);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
