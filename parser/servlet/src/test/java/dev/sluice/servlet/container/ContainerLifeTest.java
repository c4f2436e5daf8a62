package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.servlet.MultipartFilter;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files live as long as the request, and as those that still work with it: on every way a request can end. */
@Timeout(120)
class ContainerLifeTest {
    private static final byte[] CONTENT = Form.noise(20_000, 7);
    private static final Form FORM =
            new Form().field("a", "1").file("f", "f.bin", CONTENT).file("g", "g.bin", CONTENT);
    private static final int FILES = 3;

    @TempDir
    Path directory;

    private final WorkServlet servlet = new WorkServlet();
    private Store store;

    @BeforeEach
    void open() throws IOException {
        store = new Store(Files.createDirectory(directory.resolve("spool")));
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    private RunningContainer start(ServletContainer kind) throws Exception {
        MultipartFilter filter = MultipartFilter.builder(
                        store.options().spillThreshold(0).build())
                .build();
        return kind.start(new WebApp(Files.createDirectory(directory.resolve("container")))
                .servlet("/app/*", servlet)
                .filter("/app/*", filter, DispatcherType.ASYNC));
    }

    private void parse(HttpServletRequest request) throws Exception {
        assertEquals(3, request.getParts().size());
        assertEquals(FILES, store.files());
    }

    private static int post(RunningContainer container, String path) throws IOException {
        try (RawHttp connection = container.connect()) {
            return connection.send(FORM.post("/app" + path)).answer().status();
        }
    }

    private void assertStatusAndNothingLeft(ServletContainer kind, int status, WorkServlet.Work work) throws Exception {
        servlet.at("/work", work);
        try (RunningContainer container = start(kind)) {
            assertEquals(status, post(container, "/work"));
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void filesDieWithAnOrdinaryRequest(ServletContainer kind) throws Exception {
        assertStatusAndNothingLeft(kind, 200, (request, response) -> parse(request));
    }

    @ParameterizedTest
    @EnumSource
    void filesDieWithARequestThatEndsInAnException(ServletContainer kind) throws Exception {
        assertStatusAndNothingLeft(kind, 500, (request, response) -> {
            parse(request);
            throw new IllegalArgumentException("of the application");
        });
    }

    @ParameterizedTest
    @EnumSource
    void filesDieWithARequestThatEndsInAnError(ServletContainer kind) throws Exception {
        assertStatusAndNothingLeft(kind, 409, (request, response) -> {
            parse(request);
            response.sendError(409);
        });
    }

    @ParameterizedTest
    @EnumSource
    void filesDieWithARequestWhoseStreamsWereNotClosed(ServletContainer kind) throws Exception {
        assertStatusAndNothingLeft(kind, 200, (request, response) -> {
            parse(request);
            assertEquals(
                    CONTENT[0], (byte) request.getPart("f").getInputStream().read());
        });
    }

    @ParameterizedTest
    @EnumSource
    void filesLiveUntilAnAsynchronousRequestIsComplete(ServletContainer kind) throws Exception {
        CompletableFuture<AsyncContext> context = new CompletableFuture<>();
        CompletableFuture<HttpServletRequest> seen = new CompletableFuture<>();
        servlet.at("/work", (request, response) -> {
            parse(request);
            seen.complete(request);
            AsyncContext started = request.startAsync();
            started.setTimeout(0);
            context.complete(started);
        });
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            connection.send(FORM.post("/app/work"));
            AsyncContext started = context.get(20, TimeUnit.SECONDS);
            assertEquals(FILES, store.files());
            assertEquals(CONTENT.length, read(seen.get().getPart("f")));
            started.complete();
            assertEquals(200, connection.answer().status());
            store.assertEmpty(kind);
        }
    }

    private static int read(Part part) throws IOException {
        try (var in = part.getInputStream()) {
            return in.readAllBytes().length;
        }
    }

    @ParameterizedTest
    @EnumSource
    void filesDieWithAnAsynchronousRequestThatTimesOut(ServletContainer kind) throws Exception {
        assertStatusAndNothingLeft(kind, 500, (request, response) -> {
            parse(request);
            request.startAsync().setTimeout(100);
        });
    }

    @ParameterizedTest
    @EnumSource
    void filesDieWithAnAsynchronousDispatchThatFails(ServletContainer kind) throws Exception {
        assertStatusAndNothingLeft(kind, 500, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                assertEquals(CONTENT.length, read(request.getPart("g")));
                throw new IllegalArgumentException("of the application");
            }
            parse(request);
            request.startAsync().dispatch();
        });
    }

    @ParameterizedTest
    @EnumSource
    void aWorkerOfTheAsyncContextOutlivesTheTimeoutAndKeepsItsFiles(ServletContainer kind) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<Integer> read = new CompletableFuture<>();
        servlet.at("/work", (request, response) -> {
            parse(request);
            Part part = request.getPart("f");
            AsyncContext context = request.startAsync();
            context.setTimeout(100);
            context.start(() -> complete(read, () -> {
                assertTrue(goOn.await(20, TimeUnit.SECONDS));
                return read(part);
            }));
        });
        try (RunningContainer container = start(kind)) {
            assertEquals(500, post(container, "/work"));
            assertEquals(FILES, store.files());
            goOn.countDown();
            assertEquals(CONTENT.length, read.get(20, TimeUnit.SECONDS));
            store.assertEmpty(kind);
        }
    }

    private interface Reading {
        int read() throws Exception;
    }

    private static void complete(CompletableFuture<Integer> future, Reading reading) {
        try {
            future.complete(reading.read());
        } catch (Exception | AssertionError e) {
            future.completeExceptionally(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHoldOutlivesTheTimeoutAndKeepsItsFiles(ServletContainer kind) throws Exception {
        AtomicReference<Closeable> hold = new AtomicReference<>();
        AtomicReference<Part> part = new AtomicReference<>();
        servlet.at("/work", (request, response) -> {
            parse(request);
            part.set(request.getPart("f"));
            hold.set(MultipartRequests.hold(request));
            request.startAsync().setTimeout(100);
        });
        try (RunningContainer container = start(kind)) {
            assertEquals(500, post(container, "/work"));
            assertEquals(FILES, store.files());
            assertEquals(CONTENT.length, read(part.get()));
            hold.get().close();
            store.assertEmpty(kind);
            assertThrows(IllegalStateException.class, () -> part.get().getInputStream());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aHoldOutlivesAnOrdinaryRequest(ServletContainer kind) throws Exception {
        AtomicReference<Closeable> hold = new AtomicReference<>();
        servlet.at("/work", (request, response) -> {
            parse(request);
            hold.set(MultipartRequests.hold(request));
        });
        try (RunningContainer container = start(kind)) {
            assertEquals(200, post(container, "/work"));
            assertEquals(FILES, store.files());
            hold.get().close();
            hold.get().close();
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void stoppingTheContainerEndsWhatIsHeld(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> {
            parse(request);
            MultipartRequests.hold(request);
        });
        try (RunningContainer container = start(kind)) {
            assertEquals(200, post(container, "/work"));
            assertEquals(FILES, store.files());
        }
        store.assertEmpty(kind);
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatGoesAwayAtAnyPointLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at(
                "/work",
                (request, response) -> assertEquals(3, request.getParts().size()));
        byte[] request = FORM.post("/app/work");
        try (RunningContainer container = start(kind)) {
            for (int cut = 40; cut < request.length; cut += 1499) {
                try (RawHttp connection = container.connect()) {
                    connection.send(request, 0, cut);
                    if (cut % 2 == 0) {
                        connection.reset();
                    }
                }
                store.assertEmpty(kind + " after " + cut + " bytes");
            }
            assertEquals(200, post(container, "/work"));
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatGoesAwayWhileTheServerReadsLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> parse(request));
        byte[] request = FORM.post("/app/work");
        try (RunningContainer container = start(kind)) {
            for (boolean reset : new boolean[] {true, false}) {
                try (RawHttp connection = container.connect()) {
                    connection.send(request, 0, request.length - 5000);
                    Eventually.isTrue(() -> store.files() > 0, () -> "no file of a request that is read");
                    if (reset) {
                        connection.reset();
                    }
                }
                store.assertEmpty(kind + (reset ? " after a reset" : " after a close"));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aContainerStoppedWithinUploadsLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> parse(request));
        byte[] request = FORM.post("/app/work");
        List<RawHttp> connections = new ArrayList<>();
        try (RunningContainer container = start(kind)) {
            for (int i = 0; i < 3; i++) {
                connections.add(container.connect().send(request, 0, request.length - 5000));
            }
            Eventually.isTrue(() -> store.files() >= 3, () -> "no files of requests that are read");
        }
        store.assertEmpty(kind);
        for (RawHttp each : connections) {
            each.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aContainerStoppedWithinAnAsynchronousRequestLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> {
            parse(request);
            request.startAsync().setTimeout(0);
        });
        try (RawHttp connection = startAndSend(kind)) {
            store.assertEmpty(kind);
            assertTrue(connection.channel().isOpen());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBodyOf3MibIsTakenUnlessTheContainerHasALimitOfItsOwn(ServletContainer kind) throws Exception {
        servlet.at(
                "/work",
                (request, response) -> assertEquals(1, request.getParts().size()));
        Path work = Files.createDirectory(directory.resolve("container"));
        MultipartFilter filter = MultipartFilter.of(store.options().build());
        byte[] large = new Form().file("f", "f.bin", new byte[3 << 20]).post("/app/work");
        WebApp asItComes = new WebApp(work).servlet("/app/*", servlet).filter("/app/*", filter);
        try (RunningContainer container = kind.start(asItComes)) {
            assertEquals(kind != ServletContainer.UNDERTOW, isTaken(container, large));
            store.assertEmpty(kind);
        }
        try (RunningContainer container = kind.start(asItComes.largeBodies())) {
            assertTrue(isTaken(container, large));
            store.assertEmpty(kind);
        }
    }

    private static boolean isTaken(RunningContainer container, byte[] request) {
        try (RawHttp connection = container.connect()) {
            return connection.send(request).answer().status() == 200;
        } catch (IOException e) {
            return false; // broken off while it was sent
        }
    }

    private RawHttp startAndSend(ServletContainer kind) throws Exception {
        try (RunningContainer container = start(kind)) {
            RawHttp connection = container.connect().send(FORM.post("/app/work"));
            Eventually.isTrue(() -> store.files() == FILES, () -> "no files of a request that is taken");
            return connection;
        }
    }
}
