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
 * A distributed object store: SeaweedFS with a master, three volume servers, two copies of every byte, a filer, and a
 * gateway for the S3 API. Its processes and files are removed when it is closed or the JVM exits. {@code SLUICE_WEED}
 * names the program.
 */
public final class Seaweed implements AutoCloseable {
    /** The access key with all permissions, used with {@link #SECRET}. */
    public static final String USER = "tests";

    public static final String SECRET = "secret-of-tests";

    private static final String IDENTITIES = """
            {"identities": [{"name": "tests", "actions": ["Admin", "Read", "List", "Tagging", "Write"],
              "credentials": [{"accessKey": "tests", "secretKey": "secret-of-tests"},
                              {"accessKey": "later", "secretKey": "secret-of-later"}]}]}
            """;

    private final Path directory;
    /** The number of ports that a process may need; after that, its ports are reused. */
    private static final int PORTS = 50;

    private static final AtomicInteger PORT = new AtomicInteger();

    private final Map<String, List<String>> commands = new LinkedHashMap<>();
    private final Map<String, Process> processes = new ConcurrentHashMap<>();
    private final int gateway;
    private int second;

    /** {@return the executable of that name on the path, or the one named by an environment variable} */
    public static Optional<String> program(String variable, String name) {
        String paths = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/sbin";
        return Stream.concat(
                        Stream.of(System.getenv().getOrDefault(variable, "")),
                        Stream.of(paths.split(File.pathSeparator)).map(path -> path + '/' + name))
                .filter(path -> Files.isExecutable(Path.of(path)) && !Files.isDirectory(Path.of(path)))
                .findFirst();
    }

    /** {@return the program, if it is installed} */
    public static Optional<String> program() {
        return program("SLUICE_WEED", "weed");
    }

    /** Starts the store. It takes some seconds to become ready. */
    public Seaweed() throws IOException {
        String program = program()
                .orElseThrow(() -> new IOException("weed (SeaweedFS) was not found: set SLUICE_WEED to its path"));
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

    /** {@return the address of a second gateway, which the first call starts} */
    public URI secondGateway() throws IOException {
        if (!processes.containsKey("s3b")) {
            int[] ports = freePorts(2);
            List<String> command = new ArrayList<>(commands.get("s3"));
            command.replaceAll(option -> option.replaceAll("^-port=.*", "-port=" + ports[0])
                    .replaceAll("^-port\\.grpc=.*", "-port.grpc=" + ports[1]));
            commands.put("s3b", command);
            start("s3b");
            second = ports[0];
        }
        return URI.create("http://127.0.0.1:" + second);
    }

    private String folder(String name) throws IOException {
        return Files.createDirectories(directory.resolve(name)).toString();
    }

    /**
     * {@return free ports of 127.0.0.1} They are below the ephemeral range and differ between processes, so that no
     * other process takes a port before it is used.
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

    public Process process(String name) {
        return Objects.requireNonNull(processes.get(name), name);
    }

    /** Kills a process, as {@code kill -9} does. */
    public void kill(String name) throws InterruptedException {
        process(name).destroyForcibly().waitFor();
    }

    public int port() {
        return gateway;
    }

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
