package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the container, a sink or the virtual machine may do to an asynchronous form. */
@Timeout(30)
class AsyncFormMishapsTest {
    private static final Duration GRACE = Duration.ofMillis(200);

    @TempDir
    private Path directory;

    private JettyApp app;

    @BeforeEach
    void open() throws IOException {
        app = new JettyApp(directory);
    }

    @AfterEach
    void close() throws Exception {
        app.close();
    }

    private static FormBody form() {
        return new FormBody().field("a", "1").file("f", "f.txt", FormBody.bytes(100_000));
    }

    /** A request whose workers go where the test wants them. */
    private static HttpServletRequest withWorkersTo(Consumer<Runnable> where, HttpServletRequest request) {
        return new HttpServletRequestWrapper(request) {
            @Override
            public AsyncContext getAsyncContext() {
                AsyncContext context = super.getAsyncContext();
                return (AsyncContext) Proxy.newProxyInstance(
                        AsyncContext.class.getClassLoader(),
                        new Class<?>[] {AsyncContext.class},
                        (proxy, method, of) -> {
                            if (method.getName().equals("start")) {
                                where.accept((Runnable) of[0]);
                                return null;
                            }
                            try {
                                return method.invoke(context, of);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
            }
        };
    }

    private Throwable failureOf(PartSink sink) throws Exception {
        return failureOf(options -> options.decider(part -> PartDecision.to(sink)));
    }

    /** {@return what the completion of the form that {@code app} receives fails with} */
    private Throwable failureOf(UnaryOperator<FormOptions.Builder> change) throws Exception {
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        app.on("/*", (request, response) -> {
            AsyncForm form = MultipartRequests.receive(request, change);
            AsyncContext async = request.getAsyncContext();
            form.completion().whenComplete((done, thrown) -> {
                failure.complete(thrown);
                async.complete();
            });
        });
        app.start();
        try (RawClient client = app.connect()) {
            client.send(form().post("/"));
            return failure.get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void anErrorOfWhoeverIsToldOfTheEndFailsTheForm() throws Exception {
        AssertionError error = new AssertionError("of the listener");
        assertSame(
                error,
                failureOf(options -> options.progress(
                                progress -> {
                                    if (progress.ended()) {
                                        throw error;
                                    }
                                },
                                Duration.ZERO))
                        .getCause());
    }

    @Test
    void anErrorOfASinkAtTheEndOfItsPartFailsTheForm() throws Exception {
        AssertionError error = new AssertionError("of the sink");
        Throwable failure = failureOf(new PartSink() {
            @Override
            public Readiness write(ByteBuf data) {
                return Readiness.READY;
            }

            @Override
            public Readiness complete() {
                throw error;
            }

            @Override
            public void close() {}
        });
        assertInstanceOf(CompletionException.class, failure);
        assertSame(error, failure.getCause());
    }

    @Test
    void anErrorOfASinkThatIsClosedDoesNotHideTheFirst() throws Exception {
        StackOverflowError error = new StackOverflowError();
        Throwable failure = failureOf(new PartSink() {
            @Override
            public Readiness write(ByteBuf data) {
                throw new IllegalArgumentException("of the sink");
            }

            @Override
            public Readiness complete() {
                return Readiness.READY;
            }

            @Override
            public void close() {
                throw error;
            }
        });
        assertEquals("of the sink", failure.getCause().getMessage());
        assertSame(error, failure.getCause().getSuppressed()[0]);
    }

    @Test
    void anErrorOfASinkOfAFormThatIsCancelledDoesNotKeepIt() throws Exception {
        CompletableFuture<AsyncForm> received = new CompletableFuture<>();
        CompletableFuture<Void> written = new CompletableFuture<>();
        app.on("/*", (request, response) -> {
            AsyncForm form = MultipartRequests.receive(
                    request,
                    options -> options.decider(part -> PartDecision.to(new PartSink() {
                        @Override
                        public Readiness write(ByteBuf data) {
                            written.complete(null);
                            return Readiness.READY;
                        }

                        @Override
                        public Readiness complete() {
                            return Readiness.READY;
                        }

                        @Override
                        public void close() {
                            throw new StackOverflowError();
                        }
                    })));
            AsyncContext async = request.getAsyncContext();
            form.completion().whenComplete((done, thrown) -> async.complete());
            received.complete(form);
        });
        app.start();
        try (RawClient client = app.connect()) {
            byte[] open =
                    new FormBody().file("f", "f.txt", FormBody.bytes(100_000)).open();
            client.send(FormBody.head("POST", "/", FormBody.TYPE, open.length + 100_000));
            client.send(open);
            written.get(10, TimeUnit.SECONDS);
            received.get(10, TimeUnit.SECONDS).cancel();
            assertEquals(200, client.answer().status());
        }
    }

    @Test
    void aRequestThatCannotBecomeAsynchronousIsNotRememberedWithoutTheFilter() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on("/*", (request, response) -> {
                HttpServletRequest broken = new HttpServletRequestWrapper(request) {
                    @Override
                    public AsyncContext startAsync() {
                        throw new IllegalStateException("not now");
                    }
                };
                assertThrows(IllegalStateException.class, () -> forms.receive(broken));
                response.getWriter().print(forms.live());
            });
            app.startBare();
            assertEquals("0", app.post("/", form()).body());
        }
    }

    @Test
    void aRequestThatCannotBecomeAsynchronousStillHasItsForm() throws Exception {
        app.on("/*", (request, response) -> {
            HttpServletRequest broken = new HttpServletRequestWrapper(request) {
                @Override
                public AsyncContext startAsync() {
                    throw new IllegalStateException("not now");
                }
            };
            assertEquals(
                    "not now",
                    assertThrows(IllegalStateException.class, () -> MultipartRequests.receive(broken))
                            .getMessage());
            response.getWriter().print(request.getParts().size());
        });
        app.start();
        assertEquals("2", app.post("/", form()).body());
    }

    @Test
    void aStreamThatTakesNoListenerLeavesNothing() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on("/*", (request, response) -> {
                HttpServletRequest broken = new HttpServletRequestWrapper(request) {
                    @Override
                    public ServletInputStream getInputStream() throws IOException {
                        return new Deaf(super.getInputStream());
                    }
                };
                assertThrows(IllegalStateException.class, () -> forms.receive(broken));
                response.getWriter().print(app.memory.used());
                request.getAsyncContext().complete();
            });
            app.startBare();
            assertEquals("0", app.post("/", form()).body());
            JettyApp.eventually("it is remembered", () -> forms.live() == 0);
        }
    }

    /** Takes no listener. */
    private static final class Deaf extends ServletInputStream {
        private final ServletInputStream in;

        Deaf(ServletInputStream in) {
            this.in = in;
        }

        @Override
        public boolean isFinished() {
            return in.isFinished();
        }

        @Override
        public boolean isReady() {
            return in.isReady();
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new IllegalStateException("there is one");
        }

        @Override
        public int read() throws IOException {
            return in.read();
        }
    }

    @Test
    void aContainerWithoutMemoryForThreadsDoesNotStopTheWatch() throws Exception {
        CompletableFuture<Throwable> first = new CompletableFuture<>();
        CompletableFuture<Throwable> second = new CompletableFuture<>();
        try (AsyncForms forms = AsyncForms.create(app.formOptions().toBuilder()
                .minBytesPerSecond(1)
                .minRateGrace(GRACE)
                .build())) {
            app.on("/*", (request, response) -> {
                request.startAsync().setTimeout(0);
                AsyncContext async = request.getAsyncContext();
                CompletableFuture<Throwable> mine = request.getQueryString().equals("1") ? first : second;
                HttpServletRequest poor = withWorkersTo(
                        worker -> {
                            throw new OutOfMemoryError("unable to create native thread");
                        },
                        request);
                forms.receive(poor).completion().whenComplete((done, failure) -> {
                    async.complete();
                    mine.complete(failure.getCause());
                });
            });
            app.startBare();
            for (CompletableFuture<Throwable> each : List.of(first, second)) {
                try (RawClient client = app.connect()) {
                    client.send(FormBody.head("POST", each == first ? "/?1" : "/?2", FormBody.TYPE, 1000));
                    MultipartException slow = assertInstanceOf(
                            MultipartException.class,
                            each.get(10, TimeUnit.SECONDS).getCause());
                    assertEquals(Reason.CLIENT_TOO_SLOW, slow.reason());
                }
            }
        }
    }
}
