package dev.sluice.servlet.matrix;

import dev.sluice.MultipartReader;
import dev.sluice.buffer.Delimiter;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.RawHttp;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A container with {@link MatrixApp} in a separate process. */
final class RunningDistribution implements AutoCloseable {
    private static final Duration START = Duration.ofMinutes(3);

    /** One class of each library that the application needs. */
    private static final List<Class<?>> LIBRARIES =
            List.of(SluiceFilter.class, MultipartReader.class, Delimiter.class, ByteBuf.class, ReferenceCounted.class);

    private static final String WEB_XML = """
            <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0" metadata-complete="true">
              <listener><listener-class>%s</listener-class></listener>
              <error-page><location>/error</location></error-page>
            </web-app>
            """.formatted(MatrixApp.class.getName());

    private final Process process;
    private final Path log;
    private final int port;

    private RunningDistribution(Process process, Path log, int port) {
        this.process = process;
        this.log = log;
        this.port = port;
    }

    /** @param directory an empty directory for all files of the container */
    static RunningDistribution start(Distribution kind, Path downloads, Path directory) throws Exception {
        Path war = war(directory.resolve(Distribution.PATH.substring(1) + ".war"));
        int port = freePort();
        Path home = Files.createDirectory(directory.resolve("home"));
        Path log = directory.resolve("log.txt");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-Xmx512m",
                "-Dio.netty.leakDetection.level=paranoid",
                "-Djava.io.tmpdir=" + Files.createDirectory(directory.resolve("tmp"))));
        command.addAll(kind.install(downloads, home, war, port));
        Process process = new ProcessBuilder(command)
                .directory(home.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        RunningDistribution running = new RunningDistribution(process, log, port);
        try {
            running.awaitStart();
        } catch (IOException e) {
            running.close();
            throw e;
        }
        return running;
    }

    private void awaitStart() throws IOException, InterruptedException {
        long start = System.nanoTime();
        while (!answers()) {
            if (System.nanoTime() - start > START.toNanos() || !process.isAlive()) {
                throw new IOException("the container does not start:\n" + log());
            }
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }

    private boolean answers() {
        try (RawHttp connection = connect()) {
            return connection
                            .send("GET " + Distribution.PATH + "/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            .response()
                            .status()
                    == 200;
        } catch (IOException e) {
            return false;
        }
    }

    RawHttp connect() throws IOException {
        return new RawHttp(port);
    }

    int port() {
        return port;
    }

    String log() throws IOException {
        return Files.readString(log, StandardCharsets.ISO_8859_1);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Path war(Path file) throws IOException, URISyntaxException {
        try (ZipOutputStream war = new ZipOutputStream(Files.newOutputStream(file))) {
            write(war, "WEB-INF/web.xml", WEB_XML.getBytes(StandardCharsets.UTF_8));
            Path classes = codeOf(MatrixApp.class);
            String app = MatrixApp.class.getName().replace('.', '/');
            try (Stream<Path> own = Files.list(classes.resolve(app).getParent())) {
                for (Path each : own.toList()) {
                    String name = classes.relativize(each).toString();
                    if (name.startsWith(app)) {
                        write(war, "WEB-INF/classes/" + name, Files.readAllBytes(each));
                    }
                }
            }
            for (Class<?> library : LIBRARIES) {
                Path code = codeOf(library);
                war.putNextEntry(new ZipEntry("WEB-INF/lib/" + library.getSimpleName() + ".jar"));
                if (Files.isDirectory(code)) {
                    jar(war, code);
                } else {
                    Files.copy(code, war);
                }
                war.closeEntry();
            }
        }
        return file;
    }

    private static void jar(OutputStream out, Path classes) throws IOException {
        ZipOutputStream jar = new ZipOutputStream(out);
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                write(jar, classes.relativize(each).toString(), Files.readAllBytes(each));
            }
        }
        jar.finish();
    }

    private static Path codeOf(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private static void write(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(bytes);
        zip.closeEntry();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }
}
