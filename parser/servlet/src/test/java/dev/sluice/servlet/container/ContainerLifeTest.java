package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.servlet.DivertedRequest;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.RequestListener;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The lifetime of files for each way in which a request can end. Files exist until the request and its users have ended. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class ContainerLifeTest extends AppTestBase {
    private static final byte[] CONTENT = TestForm.noise(20_000, 7);
    private static final TestForm FORM =
            new TestForm().field("a", "1").file("f", "f.bin", CONTENT).file("g", "g.bin", CONTENT);
    private static final int FILES = 2;

    private final Map<String, Integer> statuses = new LinkedHashMap<>();

    @BeforeEach
    void keepAllInFiles() {
        app.options(options -> options.spillThreshold(0));
    }

    private void parse(HttpServletRequest request) throws Exception {
        assertEquals(3, request.getParts().size());
        assertEquals(FILES, app.spool.files());
    }

    private static int read(Part part) throws IOException {
        try (var in = part.getInputStream()) {
            return in.readAllBytes().length;
        }
    }

    @ParameterizedTest
    @EnumSource
    void files_areDeletedWithTheirRequest(ServletContainer kind) throws Exception {
        on("/returns", 200, (request, response) -> parse(request));
        on("/throws", 500, (request, response) -> {
            parse(request);
            throw new IllegalArgumentException("thrown by the application");
        });
        on("/sends-an-error", 409, (request, response) -> {
            parse(request);
            response.sendError(409);
        });
        on("/leaves-a-stream-open", 200, (request, response) -> {
            parse(request);
            assertEquals(
                    CONTENT[0], (byte) request.getPart("f").getInputStream().read());
        });
        on("/times-out", 500, (request, response) -> {
            parse(request);
            request.startAsync().setTimeout(100);
        });
        on("/throws-in-a-dispatch", 500, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                assertEquals(CONTENT.length, read(request.getPart("g")));
                throw new IllegalArgumentException("thrown by the application");
            }
            parse(request);
            request.startAsync().dispatch();
        });
        assertStatuses(kind);
    }

    private void on(String path, int status, Work work) {
        statuses.put(path, status);
        app.on(path, work);
    }

    /** Posts a form to each path. Each request must end with its status, and release its files. */
    private void assertStatuses(ServletContainer kind) throws Exception {
        app.start(kind);
        for (Map.Entry<String, Integer> each : statuses.entrySet()) {
            assertEquals(each.getValue(), app.post(each.getKey(), FORM).status(), each.getKey());
            app.assertNothingLeft(each.getKey());
        }
    }

    /** The requests have no timeout, so a missing response fails the test. */
    @ParameterizedTest
    @EnumSource
    void rejectedForm_asynchronousRequest_isAnswered(ServletContainer kind) throws Exception {
        app.options(options -> options.maxParts(1));
        on("/before", 413, (request, response) -> {
            request.startAsync().setTimeout(0);
            request.getParts();
        });
        on("/dispatch", 413, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                request.getParts();
            } else {
                AsyncContext context = request.startAsync();
                context.setTimeout(0);
                context.dispatch();
            }
        });
        on("/dispatch-as-seen", 413, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                request.getParts();
            } else {
                AsyncContext context = request.startAsync(request, response);
                context.setTimeout(0);
                context.dispatch();
            }
        });
        assertStatuses(kind);
    }

    /** All containers sometimes omit {@code onComplete}. */
    @ParameterizedTest
    @EnumSource
    void asyncRequest_withoutOnComplete_ends(ServletContainer kind) throws Exception {
        app.wrap(request -> new DivertedRequest(Runnable::run, request).withoutCompletion());
        on("/times-out", 500, (request, response) -> {
            parse(request);
            request.startAsync().setTimeout(100);
        });
        on("/dispatches", 200, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                assertEquals(CONTENT.length, read(request.getPart("g")));
            } else {
                parse(request);
                request.startAsync().dispatch();
            }
        });
        on("/dispatches-after-the-time", 200, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                assertEquals(CONTENT.length, read(request.getPart("g")));
                return;
            }
            parse(request);
            AsyncContext context = request.startAsync();
            context.setTimeout(100);
            context.addListener(RequestListener.dispatchOnTimeout());
        });
        on("/fails-in-a-dispatch", 500, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                throw new IllegalArgumentException("thrown by the application");
            }
            parse(request);
            request.startAsync().dispatch();
        });
        assertStatuses(kind);
    }

    @ParameterizedTest
    @EnumSource
    void asyncRequest_keepsFilesUntilComplete(ServletContainer kind) throws Exception {
        CompletableFuture<AsyncContext> context = new CompletableFuture<>();
        CompletableFuture<HttpServletRequest> seen = new CompletableFuture<>();
        app.on((request, response) -> {
            parse(request);
            seen.complete(request);
            AsyncContext started = request.startAsync();
            started.setTimeout(0);
            context.complete(started);
        });
        app.start(kind);
        try (RawHttp connection = app.connect().send(FORM.post("/"))) {
            AsyncContext started = context.get(2, TimeUnit.MINUTES);
            assertEquals(FILES, app.spool.files());
            assertEquals(CONTENT.length, read(seen.get().getPart("f")));
            started.complete();
            assertEquals(200, connection.response().status());
        }
    }

    @ParameterizedTest
    @EnumSource
    void worker_outlivesTimeout_keepsFiles(ServletContainer kind) throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<Integer> read = new CompletableFuture<>();
        app.on((request, response) -> {
            parse(request);
            Part part = request.getPart("f");
            AsyncContext context = request.startAsync();
            context.setTimeout(1_000);
            context.start(() -> {
                try {
                    assertTrue(goOn.await(2, TimeUnit.MINUTES));
                    read.complete(read(part));
                } catch (Exception | AssertionError e) {
                    read.completeExceptionally(e);
                }
            });
        });
        app.start(kind);
        assertEquals(500, app.post("/", FORM).status());
        assertEquals(FILES, app.spool.files());
        goOn.countDown();
        assertEquals(CONTENT.length, read.get(2, TimeUnit.MINUTES));
    }

    @ParameterizedTest
    @EnumSource
    void hold_outlivesRequest_keepsFiles(ServletContainer kind) throws Exception {
        AtomicReference<Closeable> hold = new AtomicReference<>();
        AtomicReference<Part> part = new AtomicReference<>();
        Work holds = (request, response) -> {
            parse(request);
            part.set(request.getPart("f"));
            hold.set(MultipartRequests.hold(request));
        };
        app.on("/ordinary", holds);
        app.on("/times-out", (request, response) -> {
            holds.run(request, response);
            request.startAsync().setTimeout(100);
        });
        app.start(kind);
        for (String path : List.of("/ordinary", "/times-out")) {
            assertEquals(
                    path.equals("/ordinary") ? 200 : 500, app.post(path, FORM).status());
            assertEquals(FILES, app.spool.files(), path);
            assertEquals(CONTENT.length, read(part.get()), path);
            hold.get().close();
            hold.get().close();
            app.assertNothingLeft(path);
            assertThrows(IllegalStateException.class, () -> part.get().getInputStream(), path);
        }
    }

    @ParameterizedTest
    @EnumSource
    void disconnectedClient_leavesNothing(ServletContainer kind) throws Exception {
        app.on((request, response) -> assertEquals(3, request.getParts().size()));
        app.start(kind);
        byte[] request = FORM.post("/");
        for (int cut = 40; cut < request.length; cut += 1499) {
            try (RawHttp connection = app.connect()) {
                connection.send(request, 0, cut);
                if (cut % 2 == 0) {
                    connection.reset();
                }
            }
            app.assertNothingLeft(cut + " bytes");
        }
        assertEquals(200, app.post("/", FORM).status());
    }

    @ParameterizedTest
    @EnumSource
    void disconnectedClient_whileReading_leavesNothing(ServletContainer kind) throws Exception {
        app.on((request, response) -> parse(request)).start(kind);
        for (boolean reset : new boolean[] {true, false}) {
            try (RawHttp connection = app.begin(FORM, FILES)) {
                if (reset) {
                    connection.reset();
                }
            }
            app.assertNothingLeft(reset ? "a reset" : "a close");
        }
    }

    @ParameterizedTest
    @EnumSource
    void stoppedContainer_leavesNothing(ServletContainer kind) throws Exception {
        app.on("/held", (request, response) -> {
            parse(request);
            MultipartRequests.hold(request);
        });
        app.on("/asynchronous", (request, response) -> {
            request.getParts();
            request.startAsync().setTimeout(0);
        });
        app.on("/", (request, response) -> request.getParts());
        app.start(kind);
        assertEquals(200, app.post("/held", FORM).status());
        assertEquals(FILES, app.spool.files());
        List<RawHttp> connections = new ArrayList<>();
        connections.add(app.connect().send(FORM.post("/asynchronous")));
        Eventually.isTrue(() -> app.spool.files() == 2 * FILES, "the spool does not have the files");
        for (int uploads = 1; uploads <= 3; uploads++) {
            connections.add(app.begin(FORM, (2 + uploads) * FILES));
        }
        app.stop();
        app.assertNothingLeft(kind);
        for (RawHttp each : connections) {
            assertTrue(each.channel().isOpen());
            each.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void body3MiB_isAcceptedWithinContainerLimit(ServletContainer kind) throws Exception {
        WorkServlet servlet = new WorkServlet()
                .at(
                        "/work",
                        (request, response) ->
                                assertEquals(1, request.getParts().size()));
        Path work = Files.createDirectory(directory.resolve("container"));
        byte[] large = new TestForm().file("f", "f.bin", new byte[3 << 20]).post("/app/work");
        WebApp asItComes =
                new WebApp(work).servlet("/app/*", servlet).filter("/app/*", SluiceFilter.of(app.formOptions()));
        try (RunningContainer container = kind.start(asItComes)) {
            assertEquals(kind != ServletContainer.UNDERTOW, isAccepted(container, large));
            app.assertNothingLeft(kind);
        }
        try (RunningContainer container = kind.start(asItComes.largeBodies())) {
            assertTrue(isAccepted(container, large));
        }
    }

    private static boolean isAccepted(RunningContainer container, byte[] request) {
        try (RawHttp connection = container.connect()) {
            return connection.send(request).response().status() == 200;
        } catch (IOException e) {
            return false; // the container closed the connection during sending
        }
    }
}
