package dev.sluice.samples.cluster;

import dev.sluice.testkit.Seaweed;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * An object store, upload servers and a proxy in front of them, as processes on this machine. A node (an upload server) or a volume server
 * of the object store is restarted if it dies. A file in the directory of the cluster records the addresses and processes. Thread-safe.
 */
final class Cluster implements AutoCloseable {
    static final String BUCKET = "uploads";

    private static final long PATIENCE_SECONDS = 60;
    private static final long POLL_MILLIS = 200;

    /** The time before a dead process is restarted. */
    private static final long AWAY_MILLIS = 500;

    private final Path directory;
    private final Seaweed store;
    private final Map<String, Integer> ports = new LinkedHashMap<>();
    private final Map<String, Process> processes = new ConcurrentHashMap<>();
    private final List<String> watched = new ArrayList<>(List.of("volume1", "volume2", "volume3"));
    final boolean proxied;
    private volatile boolean closed;

    /** A process, identified by its process ID and its start time, because IDs are reused. */
    record Running(long pid, long startMillis) {
        /** The start time is computed from the boot time and differs slightly between JVMs. */
        private static final long SAME_MILLIS = 2000;

        static Running of(ProcessHandle process) {
            return new Running(process.pid(), start(process));
        }

        static Running parse(String text) {
            int space = text.indexOf(' ');
            return new Running(Long.parseLong(text.substring(0, space)), Long.parseLong(text.substring(space + 1)));
        }

        private static long start(ProcessHandle process) {
            return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        }

        /** {@return the process, if it is still running} */
        Optional<ProcessHandle> handle() {
            return ProcessHandle.of(pid)
                    .filter(process -> startMillis > 0 && Math.abs(start(process) - startMillis) < SAME_MILLIS);
        }

        @Override
        public String toString() {
            return pid + " " + startMillis;
        }
    }

    /** The content of the cluster's file. */
    record ClusterFile(List<URI> pages, URI store, Map<String, Running> processes) {
        static ClusterFile of(Path directory) throws IOException {
            Properties file = new Properties();
            try (InputStream in = Files.newInputStream(file(directory))) {
                file.load(in);
            } catch (NoSuchFileException e) {
                throw new IOException("no cluster is running in " + directory, e);
            }
            Map<String, Running> processes = new LinkedHashMap<>();
            file.stringPropertyNames().stream()
                    .sorted()
                    .filter(name -> name.startsWith("pid."))
                    .forEach(name -> processes.put(name.substring(4), Running.parse(file.getProperty(name))));
            List<URI> pages = List.of(file.getProperty("pages").split(" ")).stream()
                    .map(URI::create)
                    .toList();
            return new ClusterFile(pages, URI.create(file.getProperty("store")), processes);
        }
    }

    private static Path file(Path directory) {
        return directory.resolve("cluster.properties");
    }

    /**
     * Starts all processes and returns when the upload page is available.
     *
     * @param directory the directory for the files of the nodes
     * @param port the port of the proxy; 0 for any free one
     * @param nodes the number of upload servers, 1 or more
     */
    Cluster(Path directory, int port, int nodes) throws IOException, InterruptedException {
        this.directory = Files.createDirectories(directory);
        int[] free = Seaweed.freePorts(nodes + 1);
        ports.put("proxy", port == 0 ? free[nodes] : port);
        assertFree(ports.get("proxy"));
        Files.deleteIfExists(file(directory)); // left by a killed cluster
        store = new Seaweed();
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        try (S3AsyncClient client = client(store.address())) {
            await(() -> client.createBucket(request -> request.bucket(BUCKET)).join());
        }
        for (int i = 0; i < nodes; i++) {
            String name = "node" + (i + 1);
            ports.put(name, free[i]);
            watched.add(name);
            start(name);
        }
        Optional<String> haproxy = Seaweed.program("SLUICE_HAPROXY", "haproxy");
        proxied = haproxy.isPresent();
        if (haproxy.isPresent()) {
            Path configuration = directory.resolve("haproxy.cfg");
            Files.writeString(configuration, configuration());
            run("proxy", Map.of(), List.of(haproxy.get(), "-db", "-f", configuration.toString()));
        }
        for (URI page : pages()) {
            await(() -> page.toURL().openConnection().getInputStream().readAllBytes());
        }
        if (proxied && !process("proxy").isAlive()) {
            throw new IOException("the proxy has stopped: see " + directory.resolve("proxy.log"));
        }
        write();
        Thread supervisor = new Thread(this::supervise, "supervisor");
        supervisor.setDaemon(true);
        supervisor.start();
    }

    /** Requires a free port, because another server on the port would be mistaken for the proxy. */
    private static void assertFree(int port) throws IOException {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress("127.0.0.1", port));
        } catch (BindException e) {
            throw new IOException("port " + port + " is already in use: pass another --port", e);
        }
    }

    private void start(String name) throws IOException {
        if (name.startsWith("volume")) {
            store.start(name);
            return;
        }
        run(
                name,
                Map.of("AWS_ACCESS_KEY_ID", Seaweed.USER, "AWS_SECRET_ACCESS_KEY", Seaweed.SECRET),
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "dev.sluice.samples.upload.Main",
                        "serve",
                        "--port=" + ports.get(name),
                        "--dir=" + directory.resolve(name),
                        "--s3=" + store.address(),
                        "--bucket=" + BUCKET));
    }

    private void run(String name, Map<String, String> environment, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        builder.redirectOutput(ProcessBuilder.Redirect.appendTo(
                directory.resolve(name + ".log").toFile()));
        processes.put(name, builder.start());
    }

    private String configuration() {
        StringBuilder text = new StringBuilder("""
                defaults
                  mode http
                  timeout connect 2s
                  timeout client 2m
                  timeout server 2m
                  retries 5
                  option redispatch 1
                  default-server check inter 300ms fall 1 rise 1
                listen nodes
                  bind 127.0.0.1:%d
                """.formatted(ports.get("proxy")));
        ports.forEach((name, port) -> {
            if (!name.equals("proxy")) {
                text.append("  server ")
                        .append(name)
                        .append(" 127.0.0.1:")
                        .append(port)
                        .append('\n');
            }
        });
        return text.toString();
    }

    /** {@return the addresses of the upload page: the proxy's, or each node's if HAProxy is not installed} */
    List<URI> pages() {
        return ports.entrySet().stream()
                .filter(port -> proxied == port.getKey().equals("proxy"))
                .map(port -> URI.create("http://127.0.0.1:" + port.getValue() + "/"))
                .toList();
    }

    private Process process(String name) {
        Process node = processes.get(name);
        return node == null ? store.process(name) : node;
    }

    private void supervise() {
        while (!closed) {
            try {
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
                for (String name : watched) {
                    if (!closed && !process(name).isAlive()) {
                        TimeUnit.MILLISECONDS.sleep(AWAY_MILLIS);
                        restart(name);
                    }
                }
            } catch (IOException e) {
                e.printStackTrace();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private synchronized void restart(String name) throws IOException {
        if (!closed) {
            start(name);
            write();
        }
    }

    private void write() throws IOException {
        Properties file = new Properties();
        file.setProperty(
                "pages", String.join(" ", pages().stream().map(URI::toString).toList()));
        file.setProperty("store", store.address().toString());
        watched.forEach(name -> file.setProperty(
                "pid." + name, Running.of(process(name).toHandle()).toString()));
        Path next = directory.resolve("cluster.next");
        try (OutputStream out = Files.newOutputStream(next)) {
            file.store(out, null);
        }
        Files.move(next, file(directory), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    static S3AsyncClient client(URI store) {
        return S3AsyncClient.builder()
                .endpointOverride(store)
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .credentialsProvider(
                        StaticCredentialsProvider.create(AwsBasicCredentials.create(Seaweed.USER, Seaweed.SECRET)))
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .build();
    }

    private static void await(Callable<?> attempt) throws IOException, InterruptedException {
        long since = System.nanoTime();
        for (; ; ) {
            try {
                attempt.call();
                return;
            } catch (Exception e) {
                if (System.nanoTime() - since > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                    throw new IOException("the cluster did not start", e);
                }
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            }
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        try {
            Files.deleteIfExists(file(directory));
        } catch (IOException e) {
            e.printStackTrace();
        }
        processes.values().forEach(Process::destroyForcibly);
        store.close();
    }
}
