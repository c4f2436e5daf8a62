package dev.sluice.samples.adapters.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.form.FormAdmission;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.FormSummary;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.BrowserForm;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TenUploads;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBuf;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Hooks;
import reactor.netty.DisposableServer;
import reactor.netty.channel.AbortedException;

/** Uploads to real servers through the adapters of the guide. After each test, memory and files must be released. */
@Timeout(300)
class AdaptersTest {
    private static final int MIB = 1 << 20;

    /** The servers. Each value starts one, and returns how to stop it. */
    enum Adapter {
        VERTX {
            @Override
            Server start(AdaptersTest test) throws Exception {
                Vertx vertx = Vertx.vertx();
                HttpServer server = vertx.createHttpServer()
                        .requestHandler(new VertxForms(test.forms, test.workers, test::describe))
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(1, TimeUnit.MINUTES);
                return new Server(
                        server.actualPort(),
                        () -> vertx.close()
                                .toCompletionStage()
                                .toCompletableFuture()
                                .join());
            }
        },
        REACTOR_NETTY {
            @Override
            Server start(AdaptersTest test) {
                DisposableServer server = reactor.netty.http.server.HttpServer.create()
                        .host("127.0.0.1")
                        .port(0)
                        .handle(new ReactorNettyForms(test.forms, test.workers, test::describe))
                        .bindNow();
                return new Server(server.port(), server::disposeNow);
            }
        };

        abstract Server start(AdaptersTest test) throws Exception;
    }

    private record Server(int port, Runnable stop) implements AutoCloseable {
        @Override
        public void close() {
            stop.run();
        }
    }

    @TempDir
    Path directory;

    private final MemoryBudget memory = MemoryBudget.of(64 << 20);
    private final List<String> ended = new CopyOnWriteArrayList<>();
    private final LongAdder accepted = new LongAdder();
    private ExecutorService workers;
    private SpoolDirectory spool;
    private Forms forms;

    @BeforeEach
    void openForms() throws IOException {
        openForms(Duration.ofMinutes(2)); // the machine may be busy
    }

    private void openForms(Duration grace) throws IOException {
        workers = Executors.newFixedThreadPool(4);
        spool = SpoolDirectory.open(directory);
        forms = Forms.of(FormOptions.builder(spool, memory)
                .maxPartBytes(4 * MIB)
                .maxBodyBytes(5 * MIB)
                .maxDrainBytes(8 * MIB)
                .minRateGrace(grace)
                .metrics(summary -> ended.add(summary.outcome() + " " + summary.remoteAddress() + place(summary)))
                .build());
    }

    @AfterEach
    void close() throws Exception {
        awaitNothingLeft(0);
        forms.close();
        spool.close();
        workers.shutdown();
    }

    private void awaitNothingLeft(int endedForms) {
        Eventually.isTrue(
                () -> ended.size() >= endedForms && memory.used() == 0 && spool.files() == 0,
                () -> ended + ", " + memory.used() + " bytes, " + spool.files() + " files");
    }

    private static String place(FormSummary summary) {
        return summary.failure() instanceof MultipartException rejected
                ? " part " + rejected.partIndex() + ' ' + rejected.fieldName() + ' ' + rejected.offset()
                : "";
    }

    private String describe(MultipartForm form) {
        accepted.add(form.files().size());
        try {
            FormPart file = form.file("file");
            return form.text("title") + ' ' + (file == null ? "elsewhere" : file.size());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] form(int bytes) {
        return new TestForm()
                .field("title", "Holiday")
                .file("file", "f.txt", new byte[bytes])
                .body();
    }

    private static byte[] chunked(byte[] body) {
        return TestForm.chunked("/", body, 50_000);
    }

    /** {@return the status and the body of the next response} */
    private static String answer(RawHttp client) throws IOException {
        RawHttp.Response answer = client.anyResponse();
        return answer.status() + " " + answer.body();
    }

    @ParameterizedTest
    @EnumSource
    void forms_onOneConnection_areReceived(Adapter adapter) throws Exception {
        try (Server server = adapter.start(this);
                RawHttp client = new RawHttp(server.port())) {
            for (int size : new int[] {0, 10, 4 * MIB, 100_000}) {
                client.send(TestForm.request("/", form(size)));
                assertEquals("200 Holiday " + size, answer(client));
            }
            client.send(chunked(form(MIB)));
            assertEquals("200 Holiday " + MIB, answer(client));
        }
    }

    @ParameterizedTest
    @EnumSource
    void tenUploadsAndBrowserForm_areReceivedOrRejected(Adapter adapter, @TempDir Path scratch) throws Exception {
        try (Server server = adapter.start(this)) {
            String sent = new TenUploads(server.port(), "/", "file", "text/plain", 5 * MIB)
                    .send(accepted::sum, () -> memory.used() + spool.files());
            assertEquals(TenUploads.all(200), sent);
            String shown = BrowserForm.submit(URI.create("http://127.0.0.1:" + server.port() + "/"), "file", scratch);
            assertTrue(shown.contains("Sea " + "a b.jpg".length()), shown); // the content is the name
        }
    }

    @ParameterizedTest
    @EnumSource
    void tooLargeFile_isRejected_andConnectionIsReused(Adapter adapter) throws Exception {
        try (Server server = adapter.start(this);
                RawHttp client = new RawHttp(server.port())) {
            client.send(chunked(form(4 * MIB + 1)));
            assertTrue(answer(client).startsWith("413 "));
            client.send(TestForm.request("/", form(10)));
            assertEquals("200 Holiday 10", answer(client));
        }
    }

    @ParameterizedTest
    @EnumSource
    void tooLargeBody_isRejectedAtItsHead(Adapter adapter) throws Exception {
        try (Server server = adapter.start(this);
                RawHttp client = new RawHttp(server.port())) {
            client.send(TestForm.head("/", 1L << 40));
            assertTrue(answer(client).startsWith("413 "));
        }
    }

    @ParameterizedTest
    @EnumSource
    void expectContinue_isAnswered_onlyIfBodyIsWanted(Adapter adapter) throws Exception {
        try (Server server = adapter.start(this)) {
            try (RawHttp client = new RawHttp(server.port())) {
                byte[] body = form(MIB);
                client.send(TestForm.head("/", "Content-Length: " + body.length, "Expect: 100-continue"));
                assertEquals("100 ", answer(client));
                client.send(body);
                assertEquals("200 Holiday " + MIB, answer(client));
            }
            try (RawHttp client = new RawHttp(server.port())) {
                client.send(TestForm.head("/", "Content-Length: " + 6 * MIB, "Expect: 100-continue"));
                assertTrue(answer(client).startsWith("413 "));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void truncatedBody_isRejected(Adapter adapter) throws Exception {
        byte[] body = form(MIB);
        try (Server server = adapter.start(this);
                RawHttp client = new RawHttp(server.port())) {
            client.send(chunked(Arrays.copyOf(body, body.length - 20)));
            assertTrue(answer(client).startsWith("400 "));
        }
        assertEquals(List.of("TRUNCATED 127.0.0.1 part 1 file " + (body.length - 20)), ended);
    }

    @ParameterizedTest
    @EnumSource
    void abortedUpload_leavesNothing(Adapter adapter) throws Exception {
        byte[] body = form(3 * MIB);
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try (Server server = adapter.start(this)) {
            for (int sent : new int[] {0, 50, MIB, body.length - 1}) {
                try (RawHttp client = new RawHttp(server.port())) {
                    client.send(TestForm.head("/", body.length)).send(body, 0, sent);
                    Eventually.isTrue(() -> sent != MIB || spool.files() > 0, "the file is not stored");
                }
            }
            awaitNothingLeft(4);
        } finally {
            Hooks.resetOnErrorDropped();
        }
        dropped.removeIf(AbortedException.class::isInstance); // Reactor Netty had already cancelled the form
        assertEquals(List.of(), dropped);
        assertEquals(4, ended.size());
    }

    @ParameterizedTest
    @EnumSource
    void abortDuringCommit_closesForm(Adapter adapter) throws Exception {
        Readiness commit = Readiness.pending();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        FormOptions defaults = forms.options();
        forms.close();
        forms = Forms.of(defaults.toBuilder()
                .admission(new FormAdmission() {
                    @Override
                    public Readiness admit() {
                        return Readiness.READY;
                    }

                    @Override
                    public Readiness commit() {
                        begun.countDown();
                        return commit;
                    }

                    @Override
                    public void cancelCommit(Throwable reason) {
                        cancelled.countDown();
                    }
                })
                .build());
        try (Server server = adapter.start(this)) {
            try (RawHttp client = new RawHttp(server.port())) {
                client.send(TestForm.request("/", form(3 * MIB)));
                assertTrue(begun.await(1, TimeUnit.MINUTES));
            }
            if (adapter == Adapter.REACTOR_NETTY) { // Vert.x does not report a connection that is lost after the body
                assertTrue(cancelled.await(1, TimeUnit.MINUTES));
            }
            commit.ready();
            awaitNothingLeft(1);
        }
        assertEquals(List.of("COMPLETED 127.0.0.1"), ended);
    }

    /** A sink that is not ready after its first bytes, until the test makes it ready. */
    private static final class SlowSink implements PartSink {
        final Readiness first = Readiness.pending();
        final CountDownLatch called = new CountDownLatch(1);
        long size;

        @Override
        public Readiness write(ByteBuf data) {
            called.countDown();
            size += data.readableBytes();
            return first;
        }

        @Override
        public Readiness complete() {
            return Readiness.READY;
        }

        @Override
        public void close() {}
    }

    @ParameterizedTest
    @EnumSource
    void slowSink_pausesClient(Adapter adapter) throws Exception {
        SlowSink sink = new SlowSink();
        AtomicLong received = new AtomicLong();
        FormOptions defaults = forms.options();
        forms.close();
        forms = Forms.of(defaults.toBuilder()
                .maxBodyBytes(64 * MIB)
                .maxPartBytes(64 * MIB)
                .decider(part -> part.filename() == null ? PartDecision.storeInMemory() : PartDecision.to(sink))
                .metrics(new FormMetrics() {
                    @Override
                    public void bodyReceived(int bytes) {
                        received.addAndGet(bytes);
                    }

                    @Override
                    public void formEnded(FormSummary summary) {}
                })
                .build());
        byte[] body = form(40 * MIB);
        try (Server server = adapter.start(this);
                RawHttp client = new RawHttp(server.port())) {
            client.send(TestForm.head("/", body.length));
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    client.send(body);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertTrue(sink.called.await(1, TimeUnit.MINUTES));
            Thread.sleep(500); // enough time for bytes that were not requested to arrive
            assertFalse(sent.isDone(), "the client was not paused");
            assertTrue(received.get() < MIB, () -> received + " bytes were received");
            assertTrue(memory.used() < 2 * MIB, () -> memory.used() + " bytes are held");
            sink.first.ready();
            assertEquals("200 Holiday elsewhere", answer(client));
            sent.get(1, TimeUnit.MINUTES);
            assertEquals(40 * MIB, sink.size);
        }
    }

    @ParameterizedTest
    @EnumSource
    void slowClient_isRejected(Adapter adapter) throws Exception {
        close();
        openForms(Duration.ofSeconds(1));
        try (Server server = adapter.start(this);
                RawHttp client = new RawHttp(server.port())) {
            client.send(TestForm.head("/", 100_000)).send(form(MIB), 0, 200);
            assertTrue(answer(client).startsWith("408 "));
        }
    }
}
