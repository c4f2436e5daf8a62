package dev.sluice.servlet.abort;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.MultipartFilter;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An upload that ends at any byte, in any way, over a real connection: no buffer, no file, no descriptor and no charge
 * is left of it, behind the filter or in an asynchronous form; without waiting for a collection of garbage.
 */
@Timeout(30)
class AbortMatrixTest {
    enum Face {
        FILTER,
        ASYNC
    }

    enum Framing {
        LENGTH,
        CHUNKED
    }

    enum Way {
        CLIENT_CLOSES,
        CLIENT_RESETS,
        INPUT_ENDS,
        /** The asynchronous form is cancelled, twice; the thread that reads behind the filter is interrupted. */
        CANCELLED,
        SHUT_DOWN,
        CONSUMER_THROWS,
        LIMIT_THEN_ABORT,
        SINK_ERROR_THEN_ABORT
    }

    private static final String TARGET = "abcdefghij".repeat(2);

    private static final byte[] BODY = String.join(
                    "\r\n",
                    "--B",
                    "Content-Disposition: form-data; name=a",
                    "",
                    "small",
                    "--B",
                    "Content-Disposition: form-data; name=spilled; filename=s",
                    "",
                    "0123456789".repeat(3),
                    "--B",
                    "Content-Disposition: form-data; name=target; filename=t",
                    "",
                    TARGET,
                    "--B",
                    "Content-Disposition: form-data; name=b",
                    "Content-Transfer-Encoding: base64",
                    "",
                    "QUJDREVGR0hJSktMTU5PUA==",
                    "--B",
                    "Content-Disposition: form-data; name=sink; filename=k",
                    "",
                    "sinkable",
                    "--B--",
                    "")
            .getBytes(StandardCharsets.ISO_8859_1);

    /** What the form itself takes; exact at any time. */
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false, true);

    private final MemoryBudget memory = MemoryBudget.of(1 << 20);

    @TempDir
    private Path root;

    private SpoolDirectory spool;
    private AbortedApp app;

    /** What the chunks that are read into come from. */
    private ByteBufAllocator chunks;

    private long chunksAtFirst;

    @BeforeEach
    void open() throws Exception {
        spool = SpoolDirectory.builder(root.resolve("spool")).keepFreeBytes(0).open();
        app = new AbortedApp();
        AbortedApp.Visit visit = new AbortedApp.Visit(false);
        Trap trap = new Trap(Trap.Failure.NONE, 0, spool, target());
        MultipartFilter filter = app.next(visit, options(visit, trap).build());
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), app.port())) {
            client.getOutputStream().write(request(Face.FILTER, Framing.LENGTH, BODY.length));
            assertEquals("HTTP/1.1 200", new String(client.getInputStream().readNBytes(12), StandardCharsets.US_ASCII));
        }
        AbortedApp.eventually("the request ends", () -> filter.live() == 0);
        filter.destroy();
        Files.delete(target());
        chunks = trap.chunkAllocator();
        assertNotNull(chunks);
        assertNotSame(allocator, chunks);
        chunksAtFirst = used(chunks);
    }

    @AfterEach
    void close() throws Exception {
        app.stop();
        spool.close();
    }

    private Path target() {
        return root.resolve("target");
    }

    private FormOptions.Builder options(AbortedApp.Visit visit, Trap trap) {
        return FormOptions.builder(spool, memory)
                .preset(Preset.COMPATIBLE)
                .allocator(allocator)
                .spillThreshold(10)
                .metrics(visit)
                .decider(trap);
    }

    private static long used(ByteBufAllocator asked) {
        ByteBufAllocatorMetricProvider counted = (ByteBufAllocatorMetricProvider) asked;
        return counted.metric().usedHeapMemory() + counted.metric().usedDirectMemory();
    }

    static Stream<Arguments> matrix() {
        return Stream.of(Face.values())
                .flatMap(face -> Stream.of(Way.values())
                        .flatMap(way -> Stream.of(Framing.values())
                                .filter(framing -> framing == Framing.CHUNKED || isCut(way))
                                .map(framing -> Arguments.of(face, way, framing))));
    }

    /** {@return whether the body itself ends early; else all of it is sent} */
    private static boolean isCut(Way way) {
        return switch (way) {
            case CLIENT_CLOSES, CLIENT_RESETS, INPUT_ENDS, CANCELLED, SHUT_DOWN -> true;
            case CONSUMER_THROWS, LIMIT_THEN_ABORT, SINK_ERROR_THEN_ABORT -> false;
        };
    }

    @ParameterizedTest
    @MethodSource("matrix")
    void nothingIsLeft(Face face, Way way, Framing framing) throws Exception {
        int end = framing == Framing.LENGTH
                ? BODY.length
                : BODY.length + 1; // a body that is whole may lack its last chunk
        for (int at = 0; at < end; at++) {
            abort(face, way, framing, at);
            assertNothingIsLeft(face + " " + way + " " + framing + " at byte " + at);
        }
    }

    private void abort(Face face, Way way, Framing framing, int at) throws Exception {
        Trap.Failure failure = switch (way) {
            case CONSUMER_THROWS -> Trap.Failure.UNCHECKED;
            case SINK_ERROR_THEN_ABORT -> Trap.Failure.IO;
            default -> Trap.Failure.NONE;
        };
        AbortedApp.Visit visit = new AbortedApp.Visit(way == Way.CONSUMER_THROWS);
        FormOptions.Builder options = options(visit, new Trap(failure, at, spool, target()));
        if (way == Way.LIMIT_THEN_ABORT) {
            options.maxBodyBytes(at);
        }
        MultipartFilter filter = app.next(visit, options.build());
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), app.port())) {
            client.setSoTimeout(20_000);
            client.setTcpNoDelay(true);
            client.getOutputStream().write(isCut(way) ? request(face, framing, at) : whole(face));
            if (isCut(way)) {
                visit.awaitBytes(at);
                cut(way, face, visit, filter, client);
            } else {
                visit.awaitFormEnded();
                leave(client, at % 2 == 0);
            }
        }
        visit.awaitServed();
        AbortedApp.eventually("the request ends", () -> filter.live() == 0);
        filter.destroy();
    }

    private static void cut(Way way, Face face, AbortedApp.Visit visit, MultipartFilter filter, Socket client)
            throws IOException {
        switch (way) {
            case CLIENT_CLOSES -> client.close();
            case CLIENT_RESETS -> reset(client);
            case INPUT_ENDS -> {
                client.shutdownOutput();
                readAll(client);
            }
            case CANCELLED -> {
                if (face == Face.FILTER) {
                    visit.worker().interrupt();
                } else {
                    visit.form().cancel();
                    visit.form().cancel();
                }
                visit.awaitFormEnded();
            }
            case SHUT_DOWN -> filter.destroy();
            default -> throw new IllegalArgumentException(way.toString());
        }
    }

    /** The form has failed: its client reads the answer, or is gone before. */
    private static void leave(Socket client, boolean reads) throws IOException {
        if (reads) {
            assertEquals('H', client.getInputStream().read());
        }
        reset(client);
    }

    private static void reset(Socket client) throws IOException {
        client.setSoLinger(true, 0);
        client.close();
    }

    private static void readAll(Socket client) throws IOException {
        try {
            client.getInputStream().readAllBytes();
        } catch (SocketException e) {
            // was reset, which is an end too
        }
    }

    /** {@return the head and as many bytes of the body} */
    private static byte[] request(Face face, Framing framing, int count) {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        String framed = framing == Framing.LENGTH ? "Content-Length: " + BODY.length : "Transfer-Encoding: chunked";
        String path = face == Face.FILTER ? AbortedApp.FILTERED : AbortedApp.ASYNC;
        request.writeBytes(("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\n"
                        + framed + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        byte[] bytes = Arrays.copyOf(BODY, count);
        if (framing == Framing.LENGTH) {
            request.writeBytes(bytes);
        } else if (count > 0) {
            request.writeBytes((Integer.toHexString(BODY.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            request.writeBytes(bytes);
            if (count == BODY.length) {
                request.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
            }
        }
        return request.toByteArray();
    }

    private static byte[] whole(Face face) {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(request(face, Framing.CHUNKED, BODY.length));
        request.writeBytes("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return request.toByteArray();
    }

    private void assertNothingIsLeft(String context) throws IOException {
        assertEquals(0, spool.files(), context);
        assertEquals(0, spool.bytes(), context);
        assertEquals(List.of(), entries(spool.path()), context);
        assertEquals(List.of(), openFilesIn(root), context);
        assertEquals(0, memory.used(), context);
        assertEquals(0, used(allocator), context);
        assertEquals(chunksAtFirst, used(chunks), context);
        if (Files.exists(target())) { // only as a whole
            assertEquals(TARGET, Files.readString(target()), context);
            Files.delete(target());
        }
        assertEquals(List.of(root.resolve("spool")), entries(root), context);
    }

    private static List<Path> entries(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }

    /** {@return the open files of this process below {@code directory}, but for the lock of the spool} */
    private static List<String> openFilesIn(Path directory) {
        String[] descriptors = new File("/proc/self/fd").list();
        return Stream.of(descriptors == null ? new String[0] : descriptors)
                .map(AbortMatrixTest::fileOf)
                .filter(file -> file.startsWith(directory + "/") && !file.endsWith(".lock"))
                .toList();
    }

    private static String fileOf(String descriptor) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd", descriptor)).toString();
        } catch (IOException e) {
            return ""; // closed meanwhile
        }
    }
}
