package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.Clamd;
import dev.sluice.testkit.Eventually;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Forms whose files are scanned: by a real {@code clamd} with one signature, and by servers that fail. */
@Timeout(60)
final class ClamAvScannerTest {
    private static final String TYPE = "multipart/form-data; boundary=b";

    @SuppressWarnings("deprecation") // the replacement in Netty 4.2 is not in Netty 4.1
    private static final EventLoopGroup GROUP = new NioEventLoopGroup(1);

    private static final Bootstrap TRANSPORT = new Bootstrap().group(GROUP).channel(NioSocketChannel.class);

    @TempDir
    Path directory;

    private Path files;

    @BeforeEach
    void createDirectories() throws IOException {
        files = Files.createDirectory(directory.resolve("files"));
    }

    @AfterAll
    static void stop() {
        GROUP.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }

    @Test
    void realScanner_decidesOnEachFormSeparately() throws Exception {
        try (Clamd clamd = new Clamd(Files.createDirectory(directory.resolve("clamd")))) {
            ClamAvScanner scanner =
                    ClamAvScanner.builder(TRANSPORT, clamd.address()).build();
            upload(scanner, "harmless", "x".repeat(300_000));
            assertStored("file-0", "file-1");

            MultipartException found =
                    assertThrows(MultipartException.class, () -> upload(scanner, "harmless", Clamd.MALWARE));
            assertEquals(Reason.PART_REFUSED, found.reason());
            assertEquals(422, found.httpStatus());
            assertTrue(found.getMessage().startsWith("malware was found in the part: Sluice.Test"), found.getMessage());

            MultipartException large = assertThrows(
                    MultipartException.class, () -> upload(scanner, "x".repeat(Clamd.MAX_BYTES + 500_000)));
            assertEquals(Reason.PART_TOO_LARGE, large.reason());
            assertStored("file-0", "file-1");
        }
    }

    @Test
    void unreachableScanner_failsTheForm() throws IOException {
        SocketAddress closedPort;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closedPort = closed.getLocalSocketAddress();
        }
        ClamAvScanner scanner = ClamAvScanner.builder(TRANSPORT, closedPort).build();
        MultipartException thrown = assertThrows(MultipartException.class, () -> upload(scanner, "harmless"));
        assertEquals(503, thrown.httpStatus());
        assertInstanceOf(IOException.class, thrown.getCause());
        assertStored();
    }

    @Test
    void transportWithoutChannel_failsTheForm() throws IOException {
        Bootstrap transport = new Bootstrap().group(GROUP).channelFactory(() -> {
            throw new ChannelException("too many open files");
        });
        ClamAvScanner scanner = ClamAvScanner.builder(transport, new InetSocketAddress("127.0.0.1", 1))
                .build();
        MultipartException thrown = assertThrows(MultipartException.class, () -> upload(scanner, "harmless"));
        assertEquals(Reason.UNAVAILABLE, thrown.reason());
        assertStored();
    }

    @Test
    @SuppressWarnings("deprecation") // as for GROUP
    void group_shutDown_failsTheForm() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        ClamAvScanner scanner = ClamAvScanner.builder(
                        new Bootstrap().group(group).channel(NioSocketChannel.class),
                        new InetSocketAddress("127.0.0.1", 1))
                .build();
        assertThrows(RejectedExecutionException.class, () -> upload(scanner, "harmless"));
        assertStored();
    }

    @Test
    void transport_withoutAChannelType_closesTheTarget() {
        ClamAvScanner scanner = ClamAvScanner.builder(
                        new Bootstrap().group(GROUP), new InetSocketAddress("127.0.0.1", 1))
                .build();
        Upload target = new Upload();
        assertThrows(IllegalStateException.class, () -> scanner.scan(target));
        assertEquals(1, target.closed);
    }

    @Test
    void emptyWrite_doesNotEndTheStream() throws Exception {
        try (FakeScanner fake = new FakeScanner("stream: OK\0", true);
                PartSink sink = fake.scanner().scan(PartSink.discard())) {
            assertNull(failure(sink.write(Unpooled.wrappedBuffer(new byte[10]))));
            assertTrue(sink.write(Unpooled.EMPTY_BUFFER).isReady());
            assertNull(failure(sink.write(Unpooled.wrappedBuffer(new byte[10]))));
            assertNull(failure(sink.complete()));
            assertTrue(fake.awaitEnd());
            assertEquals(20, fake.received);
        }
    }

    @Test
    void failedScan_failsTheForm() throws IOException {
        for (String reply :
                List.of("", "stream: OK", "UNKNOWN COMMAND\0", "Can't allocate memory ERROR\0", "x".repeat(5000))) {
            try (FakeScanner fake = new FakeScanner(reply, true)) {
                MultipartException thrown =
                        assertThrows(MultipartException.class, () -> upload(fake.scanner(), "harmless"), reply);
                assertEquals(Reason.UNAVAILABLE, thrown.reason(), reply);
                assertStored();
            }
        }
    }

    @Test
    void silentScanner_failsTheFormAfterTheTimeout() throws IOException {
        try (FakeScanner fake = new FakeScanner("", false)) {
            ClamAvScanner scanner = ClamAvScanner.builder(TRANSPORT, fake.address())
                    .timeout(Duration.ofMillis(50))
                    .build();
            MultipartException thrown = assertThrows(MultipartException.class, () -> upload(scanner, "harmless"));
            assertEquals(Reason.UNAVAILABLE, thrown.reason());
            assertTrue(thrown.getCause().getMessage().endsWith("did not respond in time"), thrown.toString());
            assertStored();
        }
    }

    @Test
    void clientPause_longerThanTheTimeout_isAccepted() throws Exception {
        Duration timeout = Duration.ofSeconds(2);
        try (FakeScanner fake = new FakeScanner("stream: OK\0", true);
                PartSink sink = ClamAvScanner.builder(TRANSPORT, fake.address())
                        .timeout(timeout)
                        .build()
                        .scan(PartSink.discard())) {
            assertNull(failure(sink.write(Unpooled.wrappedBuffer(new byte[10]))));
            // The timer of the write would be due before this task.
            GROUP.schedule(() -> {}, timeout.toNanos(), TimeUnit.NANOSECONDS).sync();
            assertNull(failure(sink.write(Unpooled.wrappedBuffer(new byte[10]))));
            assertNull(failure(sink.complete()));
        }
    }

    /** The scanner replies and closes its side while content is being sent. */
    @Test
    void failedWrite_doesNotHideTheReply() throws Exception {
        Bootstrap failing = new Bootstrap()
                .group(GROUP)
                .option(ChannelOption.AUTO_READ, false)
                .channelFactory(() -> new NioSocketChannel() {
                    private boolean hasWritten;

                    @Override
                    protected void doWrite(ChannelOutboundBuffer data) throws Exception {
                        if (hasWritten) {
                            config().setAutoRead(true); // the reply is read after this write has failed
                            throw new IOException("on purpose");
                        }
                        hasWritten = true;
                        super.doWrite(data);
                    }
                });
        try (FakeScanner fake = new FakeScanner("stream: Sluice.Test FOUND\0", true, 1);
                PartSink sink =
                        ClamAvScanner.builder(failing, fake.address()).build().scan(PartSink.discard())) {
            assertNull(failure(sink.write(Unpooled.wrappedBuffer(new byte[10]))));
            assertTrue(fake.awaitEnd());
            IOException failure = failure(sink.write(Unpooled.wrappedBuffer(new byte[10])));
            assertEquals(Reason.PART_REFUSED, ((MultipartException) failure).reason());
        }
    }

    @Test
    void verdict_beforeTheContentEnds_isNotAccepted() throws Exception {
        try (FakeScanner fake = new FakeScanner("stream: OK\0", false, 0)) {
            try (PartSink sink = fake.scanner().scan(PartSink.discard())) {
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                IOException failure = null;
                ByteBuf data = Unpooled.wrappedBuffer(new byte[10]);
                while (failure == null && System.nanoTime() < end) {
                    failure = failure(sink.write(data));
                }
                assertEquals(Reason.UNAVAILABLE, ((MultipartException) failure).reason());
                assertEquals(failure, failure(sink.write(data)));
                Eventually.passes(() -> assertEquals(1, data.refCnt()));
            }
        }
    }

    private static IOException failure(Readiness readiness) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(1);
        readiness.whenReady(ready::countDown);
        assertTrue(ready.await(20, TimeUnit.SECONDS));
        return (IOException) readiness.failure();
    }

    @Test
    void unscannedPart_isAcceptedIfTheApplicationAllowsIt() throws IOException {
        List<IOException> reasons = new ArrayList<>();
        try (FakeScanner fake = new FakeScanner("INSTREAM size limit exceeded. ERROR\0", true)) {
            ClamAvScanner scanner = ClamAvScanner.builder(TRANSPORT, fake.address())
                    .acceptUnscanned(reasons::add)
                    .build();
            upload(scanner, "harmless");
        }
        assertStored("file-0");
        assertEquals(1, reasons.size());
        assertTrue(reasons.get(0).getMessage().endsWith("size limit exceeded. ERROR"));
    }

    @Test
    void abortedForm_closesTheConnection() throws Exception {
        try (FakeScanner fake = new FakeScanner("", false)) {
            byte[] whole = body("harmless");
            InputStream cut = new ByteArrayInputStream(whole, 0, whole.length - 10);
            MultipartException thrown = assertThrows(MultipartException.class, () -> upload(fake.scanner(), cut));
            assertEquals(Reason.TRUNCATED, thrown.reason());
            assertTrue(fake.awaitEnd(), "the connection is still open");
            assertStored();
        }
    }

    @Test
    void sink_completedTwice_throws() throws IOException {
        try (FakeScanner fake = new FakeScanner("stream: OK\0", true)) {
            PartSink sink = fake.scanner().scan(PartSink.discard());
            sink.complete();
            assertThrows(IllegalStateException.class, sink::complete);
            sink.close();
            sink.close();
        }
    }

    @Test
    void timeout_mustBePositive() {
        ClamAvScanner.Builder builder = ClamAvScanner.builder(TRANSPORT, new InetSocketAddress("127.0.0.1", 1));
        assertThrows(IllegalArgumentException.class, () -> builder.timeout(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> builder.timeout(Duration.ofSeconds(-1)));
    }

    // ---- uploads

    private void upload(ClamAvScanner scanner, String... contents) throws IOException {
        upload(scanner, new ByteArrayInputStream(body(contents)));
    }

    private static byte[] body(String... contents) {
        StringBuilder body = new StringBuilder();
        for (String content : contents) {
            body.append("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n")
                    .append(content)
                    .append("\r\n");
        }
        return body.append("--b--\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private void upload(ClamAvScanner scanner, InputStream body) throws IOException {
        MemoryBudget memory = MemoryBudget.of(1 << 20);
        try (SpoolDirectory spool = SpoolDirectory.open(directory.resolve("spool"))) {
            // @start region="scan"
            FormOptions options = FormOptions.builder(spool, memory)
                    .decider(part -> part.filename() == null
                            ? PartDecision.storeInMemory()
                            : PartDecision.to(
                                    scanner.scan(PartSink.toFile(spool, files.resolve("file-" + part.index())))))
                    .build();
            // @end region="scan"
            Forms forms = Forms.of(options);
            try (MultipartForm form = forms.read(body, TYPE)) {
                assertTrue(form.parts().isEmpty());
            }
            assertEquals(0, memory.used());
        }
    }

    private void assertStored(String... names) throws IOException {
        try (Stream<Path> stored = Files.list(files)) {
            assertEquals(
                    List.of(names),
                    stored.map(file -> String.valueOf(file.getFileName()))
                            .sorted()
                            .toList());
        }
    }

    /** A server that reads a stream like {@code clamd}, and answers with a fixed reply. */
    private static final class FakeScanner implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        private final Thread thread;
        private volatile int received;

        /** @param disconnects whether the server closes the connection after the reply */
        FakeScanner(String reply, boolean disconnects) throws IOException {
            this(reply, disconnects, Integer.MAX_VALUE);
        }

        /** @param chunks the number of chunks after which the server replies, unless the stream ends before */
        FakeScanner(String reply, boolean disconnects, int chunks) throws IOException {
            thread = new Thread(() -> {
                try (Socket client = server.accept();
                        DataInputStream in = new DataInputStream(client.getInputStream())) {
                    in.readNBytes("zINSTREAM\0".length());
                    int size;
                    for (int i = 0; i < chunks && (size = in.readInt()) > 0; i++) {
                        in.skipNBytes(size);
                        received += size;
                    }
                    client.getOutputStream().write(reply.getBytes(StandardCharsets.US_ASCII));
                    if (!disconnects) {
                        in.transferTo(OutputStream.nullOutputStream());
                    }
                } catch (IOException e) {
                    // the connection ended
                }
            });
            thread.start();
        }

        ClamAvScanner scanner() {
            return ClamAvScanner.builder(TRANSPORT, address()).build();
        }

        SocketAddress address() {
            return server.getLocalSocketAddress();
        }

        boolean awaitEnd() throws InterruptedException {
            thread.join(TimeUnit.SECONDS.toMillis(20));
            return !thread.isAlive();
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
