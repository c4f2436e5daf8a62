package dev.sluice.s3;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * A store that is distributed: SeaweedFS, with a master, three volume servers, every byte on two of them, a filer, and a
 * gateway that speaks S3. One for the tests of a JVM; its processes end with it. {@code SLUICE_WEED} names the program.
 */
public final class Weed {
    public static final String BUCKET = "uploads";
    public static final StaticCredentialsProvider CREDENTIALS =
            StaticCredentialsProvider.create(AwsBasicCredentials.create("tests", "secret-of-tests"));

    /** As good as the others. */
    static final StaticCredentialsProvider LATER =
            StaticCredentialsProvider.create(AwsBasicCredentials.create("later", "secret-of-later"));

    private static final String IDENTITIES = """
            {"identities": [{"name": "tests", "actions": ["Admin", "Read", "List", "Tagging", "Write"],
              "credentials": [{"accessKey": "tests", "secretKey": "secret-of-tests"},
                              {"accessKey": "later", "secretKey": "secret-of-later"}]}]}
            """;

    /** For {@code @ExtendWith}: without the program its tests are not run, or fail where all clients are required. */
    public static final class IsThere implements ExecutionCondition {
        private static boolean told;

        /** For JUnit. */
        public IsThere() {}

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            if (program().isPresent() || "1".equals(System.getenv("SLUICE_REQUIRE_CLIENTS"))) {
                return ConditionEvaluationResult.enabled("weed is there, or has to be");
            }
            String line = "client not present: weed (SeaweedFS)";
            if (!told) {
                told = true;
                System.out.println(line);
            }
            return ConditionEvaluationResult.disabled(line);
        }
    }

    private static Weed running;

    private final Path directory;
    private final String program;
    private final Map<String, List<String>> commands = new HashMap<>();
    private final Map<String, Process> processes = new HashMap<>();
    private final int gateway;

    private static Optional<String> program() {
        String paths =
                System.getenv().getOrDefault("PATH", "").replace(File.pathSeparator, "/weed" + File.pathSeparator)
                        + "/weed";
        return Stream.concat(
                        Stream.of(System.getenv().getOrDefault("SLUICE_WEED", "")),
                        Stream.of(paths.split(File.pathSeparator)))
                .filter(path -> Files.isExecutable(Path.of(path)) && !Files.isDirectory(Path.of(path)))
                .findFirst();
    }

    /** {@return the store, started if it was not} */
    public static synchronized Weed running() throws IOException, InterruptedException {
        if (running == null) {
            running = new Weed();
        }
        return running;
    }

    private Weed() throws IOException, InterruptedException {
        program = program()
                .orElseThrow(() -> new IOException("no weed (SeaweedFS) on this machine (SLUICE_REQUIRE_CLIENTS=1)"));
        directory = Files.createTempDirectory("weed");
        Runtime.getRuntime().addShutdownHook(new Thread(this::stop));
        int[] ports = freePorts(12);
        gateway = ports[10];
        String master = "127.0.0.1:" + ports[0] + '.' + ports[1];
        String filer = "127.0.0.1:" + ports[8] + '.' + ports[9];
        Files.writeString(directory.resolve("identities.json"), IDENTITIES);
        command(
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
                "filer",
                ports[8],
                "-master=" + master,
                "-defaultReplicaPlacement=001",
                "-defaultStoreDir=" + folder("filer"),
                "-ip=127.0.0.1",
                "-port.grpc=" + ports[9]);
        command(
                "s3",
                ports[10],
                "-filer=" + filer,
                "-config=" + directory.resolve("identities.json"),
                "-port.iceberg=0",
                "-port.lance=0",
                "-localSocket=",
                "-port.grpc=" + ports[11]);
        for (String name : List.of("master", "volume1", "volume2", "volume3", "filer", "s3")) {
            start(name);
        }
        try (S3AsyncClient client = client(address())) {
            await(() -> client.createBucket(request -> request.bucket(BUCKET)).join());
            await(() -> client.putObject(
                            request -> request.bucket(BUCKET).key("first"),
                            AsyncRequestBody.fromString("volumes are made"))
                    .join());
        }
    }

    private String folder(String name) throws IOException {
        return Files.createDirectories(directory.resolve(name)).toString();
    }

    private static int[] freePorts(int count) throws IOException {
        List<ServerSocket> sockets = new ArrayList<>();
        int[] ports = new int[count];
        for (int i = 0; i < count; i++) {
            ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            sockets.add(socket);
            ports[i] = socket.getLocalPort();
        }
        for (ServerSocket socket : sockets) {
            socket.close();
        }
        return ports;
    }

    private void command(String name, int port, String... options) {
        List<String> command = new ArrayList<>(List.of(program, name.replaceAll("[0-9]$", ""), "-port=" + port));
        if (name.equals("s3")) {
            command.set(1, "s3");
        }
        command.add("-ip.bind=127.0.0.1");
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

    /** Ends it at once, as by {@code kill -9}. */
    public void kill(String name) throws InterruptedException {
        processes.get(name).destroyForcibly().waitFor();
    }

    /** Waits until the store works, half a minute at most. */
    public static void await(Runnable attempt) throws InterruptedException {
        long since = System.nanoTime();
        for (; ; ) {
            try {
                attempt.run();
                return;
            } catch (RuntimeException | AssertionError e) {
                if (System.nanoTime() - since > TimeUnit.SECONDS.toNanos(30)) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
    }

    int port() {
        return gateway;
    }

    /** {@return where the gateway is} */
    public URI address() {
        return URI.create("http://127.0.0.1:" + gateway);
    }

    /** {@return a client to look with} */
    public static S3AsyncClient client(URI address) {
        return S3AsyncClient.builder()
                .endpointOverride(address)
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .credentialsProvider(CREDENTIALS)
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .build();
    }

    private void stop() {
        processes.values().forEach(Process::destroyForcibly);
        try {
            for (Process process : processes.values()) {
                process.waitFor();
            }
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
