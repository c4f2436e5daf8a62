package dev.sluice.samples.gateway;

import dev.sluice.samples.upload.clients.Program;
import dev.sluice.samples.upload.clients.Scratch;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A server in a process of its own, with an application of {@code src/test/servers}. */
final class RealServer implements AutoCloseable {
    private static final Path APPLICATIONS = Path.of("src", "test", "servers").toAbsolutePath();

    /** A key and its certificate. */
    static final Path CERTIFICATE = APPLICATIONS.resolve("localhost.pem");

    private static final String HOST = "127.0.0.1";

    private final List<Process> processes = new ArrayList<>();
    private final Scratch scratch;
    private List<Integer> ports = List.of();

    private RealServer() throws IOException {
        scratch = Scratch.create();
    }

    /** {@return the address for HTTP} */
    URI plain() {
        return URI.create("http://" + HOST + ":" + ports.get(0) + "/");
    }

    /** {@return the address for HTTPS, if the server has one} */
    URI secure() {
        return URI.create("https://" + HOST + ":" + ports.get(1) + "/");
    }

    /** Starts Go's {@code net/http}. {@return the server, or null if Go is not installed} */
    static @Nullable RealServer go() throws Exception {
        Program go =
                Program.find("go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go").orElse(null);
        if (go == null) {
            return null;
        }
        Path program = Path.of("target", "servers", "go-server").toAbsolutePath();
        Program.Run build = go.run("build", "-o", program.toString(), application("server.go"));
        if (build.exitCode() != 0) {
            throw new IOException(build.err());
        }
        return new RealServer().start(Map.of(), program.toString(), CERTIFICATE.toString());
    }

    /** Starts Express on Node. {@return the server, or null if Express or Node is not installed} */
    static @Nullable RealServer express() throws Exception {
        Program node = Program.find("node", "nodejs").orElse(null);
        Path modules = installed("node_modules/express");
        return node == null || modules == null
                ? null
                : new RealServer()
                        .start(
                                Map.of("NODE_PATH", modules.getParent().toString()),
                                node.file().toString(),
                                application("express.js"));
    }

    /** Starts Flask. {@return the server, or null if Flask is not installed} */
    static @Nullable RealServer flask() throws Exception {
        Path flask = installed("python/bin/flask");
        return flask == null
                ? null
                : new RealServer()
                        .start(
                                Map.of("PYTHONDONTWRITEBYTECODE", "1"),
                                flask.resolveSibling("python").toString(),
                                application("flask_app.py"));
    }

    /** {@return a file that {@code .ci/readers} has installed, or null if it is missing} */
    private static @Nullable Path installed(String file) {
        String folder = System.getenv("SLUICE_READERS");
        return folder != null && Files.exists(Path.of(folder, file)) ? Path.of(folder, file) : null;
    }

    /** Starts the built-in server of PHP. {@return the server, or null if PHP is not installed} */
    static @Nullable RealServer php() throws Exception {
        Program php = Program.find("php").orElse(null);
        return php == null ? null : new RealServer().startPhp(php);
    }

    private RealServer startPhp(Program php) throws Exception {
        int port = freePort();
        return startOn(List.of(port), php.file().toString(), "-n", "-S", HOST + ":" + port, application("form.php"));
    }

    /** Starts nginx as a proxy of PHP. {@return the server, or null if nginx or PHP is not installed} */
    static @Nullable RealServer nginx() throws Exception {
        Program php = Program.find("php").orElse(null);
        Program nginx = Program.find("nginx", "/usr/sbin/nginx").orElse(null);
        if (php == null || nginx == null) {
            return null;
        }
        RealServer server = new RealServer().startPhp(php);
        int upstream = server.ports.get(0);
        int plain = freePort();
        int secure = freePort();
        Path folder = server.scratch.directory();
        Path configuration = Files.writeString(
                folder.resolve("nginx.conf"),
                Files.readString(APPLICATIONS.resolve("nginx.conf")).formatted(plain, secure, CERTIFICATE, upstream));
        return server.startOn(
                List.of(plain, secure),
                nginx.file().toString(),
                "-p",
                folder.toString(),
                "-c",
                configuration.toString(),
                "-e",
                "stderr");
    }

    private static String application(String file) {
        return APPLICATIONS.resolve(file).toString();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Starts a program that prints its ports. */
    private RealServer start(Map<String, String> environment, String... command) throws IOException {
        Process process = process(environment, command);
        BufferedReader out = process.inputReader();
        String line = out.readLine();
        if (line == null) {
            throw failure(command);
        }
        ports = Arrays.stream(line.split(" ")).map(Integer::valueOf).toList();
        return this;
    }

    /** Starts a program, and waits until it accepts connections. */
    private RealServer startOn(List<Integer> ports, String... command) throws Exception {
        Process process = process(Map.of(), command);
        this.ports = ports;
        for (int port : ports) {
            while (!accepts(port)) { // at most until the test times out
                if (!process.isAlive()) {
                    throw failure(command);
                }
                Thread.sleep(10);
            }
        }
        return this;
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket(HOST, port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private Process process(Map<String, String> environment, String... command) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(errors().toFile()));
        builder.environment().putAll(environment);
        Process process = builder.start();
        processes.add(process);
        return process;
    }

    private Path errors() {
        return scratch.directory().resolve("err");
    }

    private IOException failure(String... command) throws IOException {
        IOException failure = new IOException(String.join(" ", command) + ": " + Files.readString(errors()));
        close();
        return failure;
    }

    @Override
    public void close() throws IOException {
        processes.forEach(process -> process.destroyForcibly().onExit().join());
        scratch.close();
    }
}
