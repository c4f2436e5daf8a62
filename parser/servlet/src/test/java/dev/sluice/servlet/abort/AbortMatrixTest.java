package dev.sluice.servlet.abort;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;

import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.servlet.container.App;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.OpenFiles;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Uploads over real connections, interrupted at each byte in each {@link Way}, with {@code getParts} and with an
 * asynchronous form. Afterwards every buffer, file, descriptor and budget charge must be released, without help from
 * the garbage collector. By default each case is interrupted at every fourth byte, with a different first byte per
 * case. {@code -Dsluice.abort.stride=1} covers every byte.
 */
@Timeout(300)
@Tag("sized")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AbortMatrixTest {
    enum Api {
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
        /** The asynchronous form is cancelled twice. With {@code getParts}, the reading thread is interrupted. */
        CANCELLED,
        SHUT_DOWN,
        CONSUMER_THROWS,
        LIMIT_THEN_ABORT,
        SINK_ERROR_THEN_ABORT
    }

    private static final int STRIDE = ProofSize.of("sluice.abort.stride", 4, 1);
    private static final byte[] END_OF_CHUNKS = {'0', '\r', '\n', '\r', '\n'};
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

    /** The allocator of the form. Its metric is exact at any time. */
    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false, true);

    /** The number of cases that have started. Modulo {@link #STRIDE}, it is the first byte of the next case. */
    private int first;

    private App app;
    private volatile TestUpload upload;

    /** The allocator of the buffers that the body is read into. */
    private ByteBufAllocator chunks;

    private long chunksAtFirst;

    @TempDir
    private static Path root;

    @BeforeAll
    void open() throws Exception {
        app = new App(root);
        app.on((request, response) -> upload.serve(request, response)).startForMany();
        FailingDecider trap = new FailingDecider(FailingDecider.Failure.NONE, 0, app.spool, target());
        SluiceFilter filter = next(new TestUpload(false, false), trap, options -> options);
        assertEquals(200, app.send(request(Framing.LENGTH, BODY.length)).status());
        end(filter);
        Files.delete(target());
        chunks = trap.chunkAllocator();
        assertNotNull(chunks);
        assertNotSame(allocator, chunks);
        chunksAtFirst = used(chunks);
    }

    @AfterAll
    void close() throws IOException {
        app.close();
    }

    private Path target() {
        return root.resolve("target");
    }

    private SluiceFilter next(TestUpload next, FailingDecider trap, UnaryOperator<FormOptions.Builder> change)
            throws Exception {
        upload = next;
        FormOptions.Builder options = FormOptions.builder(app.spool, app.memory)
                .preset(Preset.COMPATIBLE)
                .allocator(allocator)
                .spillThreshold(10)
                .metrics(next)
                .decider(trap);
        return app.next(SluiceFilter.of(change.apply(options).build()));
    }

    private static void end(SluiceFilter filter) {
        Eventually.isTrue(() -> filter.live() == 0, "the request does not end");
        filter.destroy();
    }

    private static long used(ByteBufAllocator asked) {
        ByteBufAllocatorMetricProvider counted = (ByteBufAllocatorMetricProvider) asked;
        return counted.metric().usedHeapMemory() + counted.metric().usedDirectMemory();
    }

    static Stream<Arguments> matrix() {
        return Stream.of(Api.values())
                .flatMap(api -> Stream.of(Way.values())
                        .flatMap(way -> Stream.of(Framing.values())
                                .filter(framing -> framing == Framing.CHUNKED || isCut(way))
                                .map(framing -> Arguments.of(api, way, framing))));
    }

    /** {@return whether the body ends early; otherwise all of it is sent} */
    private static boolean isCut(Way way) {
        return switch (way) {
            case CLIENT_CLOSES, CLIENT_RESETS, INPUT_ENDS, CANCELLED, SHUT_DOWN -> true;
            case CONSUMER_THROWS, LIMIT_THEN_ABORT, SINK_ERROR_THEN_ABORT -> false;
        };
    }

    @ParameterizedTest
    @MethodSource("matrix")
    void abortedUpload_leavesNothing(Api api, Way way, Framing framing) throws Exception {
        int end = framing == Framing.LENGTH ? BODY.length : BODY.length + 1; // a complete body may lack its last chunk
        for (int at = first++ % STRIDE; at < end; at += STRIDE) {
            abort(api, way, framing, at);
            assertNothingIsLeft(api + " " + way + " " + framing + " at byte " + at);
        }
    }

    private void abort(Api api, Way way, Framing framing, int at) throws Exception {
        FailingDecider.Failure failure = switch (way) {
            case CONSUMER_THROWS -> FailingDecider.Failure.UNCHECKED;
            case SINK_ERROR_THEN_ABORT -> FailingDecider.Failure.IO;
            default -> FailingDecider.Failure.NONE;
        };
        TestUpload current = new TestUpload(api == Api.ASYNC, way == Way.CONSUMER_THROWS);
        SluiceFilter filter = next(
                current,
                new FailingDecider(failure, at, app.spool, target()),
                options -> way == Way.LIMIT_THEN_ABORT ? options.maxBodyBytes(at) : options);
        try (RawHttp client = app.connect()) {
            client.send(
                    isCut(way) ? request(framing, at) : TestForm.join(request(framing, BODY.length), END_OF_CHUNKS));
            if (isCut(way)) {
                current.awaitBytes(at);
                cut(way, current, filter, client);
            } else {
                current.awaitFormEnded();
                leave(client, at % 2 == 0);
            }
        }
        current.awaitServed();
        end(filter);
    }

    private static void cut(Way way, TestUpload upload, SluiceFilter filter, RawHttp client) throws IOException {
        switch (way) {
            case CLIENT_CLOSES -> client.close();
            case CLIENT_RESETS -> client.reset();
            case INPUT_ENDS -> client.sendEnd().awaitEnd();
            case CANCELLED -> upload.cancel();
            case SHUT_DOWN -> filter.destroy();
            default -> throw new IllegalArgumentException(way.toString());
        }
    }

    /** Reads the response to a failed form if {@code reads}, and then resets the connection. */
    private static void leave(RawHttp client, boolean reads) throws IOException {
        if (reads) {
            client.response();
        }
        client.reset();
    }

    /** {@return the head and the first bytes of the body} */
    private static byte[] request(Framing framing, int count) {
        byte[] bytes = Arrays.copyOf(BODY, count);
        String type = "Content-Type: multipart/form-data; boundary=B";
        if (framing == Framing.LENGTH) {
            return TestForm.join(TestForm.headOf("POST", "/", type, "Content-Length: " + BODY.length), bytes);
        }
        byte[] head = TestForm.headOf("POST", "/", type, "Transfer-Encoding: chunked");
        if (count == 0) {
            return head;
        }
        byte[] chunk =
                TestForm.join((Integer.toHexString(BODY.length) + "\r\n").getBytes(StandardCharsets.US_ASCII), bytes);
        return TestForm.join(head, count < BODY.length ? chunk : TestForm.join(chunk, new byte[] {'\r', '\n'}));
    }

    private void assertNothingIsLeft(String context) throws IOException {
        assertEquals(0, app.spool.files(), context);
        assertEquals(0, app.spool.bytes(), context);
        assertEquals(List.of(), entries(app.spool.path()), context);
        assertEquals(List.of(), openFiles(), context);
        assertEquals(0, app.memory.used(), context);
        assertEquals(0, used(allocator), context);
        assertEquals(chunksAtFirst, used(chunks), context);
        if (Files.exists(target())) { // a file appears there only when complete
            assertEquals(TARGET, Files.readString(target()), context);
            Files.delete(target());
        }
        assertEquals(Set.of(root.resolve("spool"), root.resolve("container")), Set.copyOf(entries(root)), context);
    }

    /** {@return the open files, except the lock file of the spool} */
    private static List<String> openFiles() {
        return OpenFiles.below(root).stream()
                .filter(file -> !file.endsWith(".lock"))
                .toList();
    }

    private static List<Path> entries(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }
}
