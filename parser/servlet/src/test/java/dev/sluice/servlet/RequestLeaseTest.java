package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.PartContent;
import dev.sluice.servlet.container.AppTestBase;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The lifetime of the files and the memory of a request. {@link AppTestBase} checks that all of them are released. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class RequestLeaseTest extends AppTestBase {
    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.txt", new byte[100_000]);

    @Test
    void detachedFile_outlivesRequest() throws Exception {
        CompletableFuture<PartContent> detached = new CompletableFuture<>();
        app.on((request, response) ->
                detached.complete(MultipartRequests.form(request).part("f").detach()));
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        try (PartContent content = detached.get(2, TimeUnit.MINUTES)) {
            Eventually.isTrue(() -> app.filter().live() == 0, "the request has not ended");
            assertEquals(100_000, content.bytes().length);
        }
    }

    @Test
    void complete_withoutNotification_endsRequest() throws Exception {
        // Payara and Tomcat sometimes do not notify listeners after the client has disconnected.
        app.wrap(request -> new DivertedRequest(Runnable::run, request).withoutListeners());
        CompletableFuture<Integer> seen = new CompletableFuture<>();
        app.on((request, response) -> {
            Part file = request.getPart("f");
            request.startAsync().complete();
            try {
                Thread.sleep(5500); // longer than the grace period, while the form is still in use
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            seen.complete(file.getInputStream().readAllBytes().length);
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        assertEquals(100_000, seen.get(2, TimeUnit.MINUTES));
        assertEquals(1, app.spool.files());
        app.assertNothingLeft("the grace period of the container");
    }

    @Test
    void complete_afterSendError_endsRequestAfterErrorPage() throws Exception {
        CompletableFuture<Void> completed = new CompletableFuture<>();
        app.wrap(request -> new DivertedRequest(Runnable::run, request)
                .withoutListeners()
                .completing(completed::thenRunAsync)); // after the call of complete has returned
        CompletableFuture<String> page = new CompletableFuture<>();
        app.errorPage((request, response) -> page.complete(request.getParameter("a")));
        app.on((request, response) -> {
            request.getParts();
            AsyncContext async = request.startAsync();
            CompletableFuture.runAsync(
                    () -> {
                        try {
                            response.sendError(409);
                        } catch (IOException e) {
                            app.thrown().add(e);
                        }
                        async.complete();
                        completed.complete(null);
                    },
                    CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS)); // after the dispatch
        });
        app.start();
        assertEquals(409, app.post("/", FORM).status());
        assertEquals("1", page.get(2, TimeUnit.MINUTES));
        app.assertNothingLeft("the grace period of the container");
    }

    /** A forward by a listener is not a dispatch whose end ends the request. */
    @Test
    void forwardAfterTimeout_withoutNotification_endsRequest() throws Exception {
        app.wrap(request -> new DivertedRequest(Runnable::run, request).withoutCompletion());
        app.errorPage((request, response) -> {}); // maps the filter to forwards
        app.on("/page", (request, response) -> response.getWriter().print("the page"));
        app.on((request, response) -> {
            request.getParts();
            AsyncContext async = request.startAsync();
            async.setTimeout(100);
            async.addListener(new RequestListener(event -> {}, event -> {
                try {
                    request.getRequestDispatcher("/page").forward(request, response);
                } catch (ServletException | IOException e) {
                    app.thrown().add(e);
                }
                event.getAsyncContext().complete();
            }));
        });
        app.start();
        assertEquals("the page", app.post("/", FORM).body());
        app.assertNothingLeft("the grace period of the container");
    }

    /** The dispatch takes longer than the grace period, and starts another asynchronous cycle. */
    @Test
    @Timeout(300)
    void dispatchAfterTimeout_keepsForm() throws Exception {
        CompletableFuture<AsyncContext> again = new CompletableFuture<>();
        app.on((request, response) -> {
            AsyncContext context = request.startAsync();
            context.setTimeout(0);
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                Eventually.after(5500); // longer than the grace period
                again.complete(context);
            } else {
                request.getParts();
                context.setTimeout(100);
                context.addListener(RequestListener.dispatchOnTimeout());
            }
        });
        app.start();
        try (RawHttp connection = app.connect().send(FORM.post("/"))) {
            AsyncContext context = again.get(90, TimeUnit.SECONDS);
            Eventually.after(5500);
            assertEquals(1, app.spool.files());
            context.complete();
            assertEquals(200, connection.response().status());
        }
    }

    @Test
    void worker_discarded_keepsFormForGraceOnly() throws Exception {
        // Jetty discards workers that have not begun when the request ends.
        app.wrap(request -> new DivertedRequest(worker -> {}, request));
        app.on((request, response) -> {
            request.getParts();
            AsyncContext async = request.startAsync();
            async.start(() -> app.thrown().add(new AssertionError("the worker was not discarded")));
            async.complete();
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        assertEquals(1, app.spool.files());
        app.assertNothingLeft("the grace period of a worker");
        assertTrue(app.thrown().isEmpty());
    }

    @Test
    void worker_startedAfterEndAndDiscarded_keepsFormForGraceOnly() throws Exception {
        app.wrap(request -> new DivertedRequest(worker -> {}, request));
        CompletableFuture<AsyncContext> context = new CompletableFuture<>();
        CompletableFuture<MultipartRequests.Hold> hold = new CompletableFuture<>();
        app.on((request, response) -> {
            request.getParts();
            hold.complete(MultipartRequests.hold(request));
            AsyncContext async = request.startAsync();
            async.complete();
            context.complete(async);
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        Eventually.after(500); // the request has ended, and only the hold keeps the form open
        context.join().start(() -> app.thrown().add(new AssertionError("the worker was not discarded")));
        hold.join().close();
        assertEquals(1, app.spool.files());
        app.assertNothingLeft("the grace period of a worker");
        assertTrue(app.thrown().isEmpty());
    }

    /** A container may start a worker after the grace period. */
    @Test
    void worker_runsAfterExpiry_releasesNoOtherReference() {
        try (FormTimer timer = new FormTimer(TimeUnit.SECONDS.toNanos(1))) {
            List<String> calls = new ArrayList<>();
            RequestLease lease = new RequestLease(timer, () -> calls.add("end"));
            RequestLease.Worker worker = lease.worker(() -> calls.add("run"));
            worker.expire();
            worker.run();
            assertEquals(List.of("run"), calls);
            lease.requestEnded();
            assertEquals(List.of("run", "end"), calls);
        }
    }

    @Test
    void release_afterShutDown_leavesLeaseEnded() {
        try (FormTimer timer = new FormTimer(TimeUnit.SECONDS.toNanos(1))) {
            List<String> calls = new ArrayList<>();
            RequestLease lease = new RequestLease(timer, () -> calls.add("end"));
            lease.hold();
            lease.shutDown();
            lease.release();
            assertTrue(lease.hasEnded());
            lease.requestEnded();
            assertThrows(IllegalStateException.class, lease::hold);
            assertEquals(List.of("end"), calls);
        }
    }

    @Test
    void worker_rejectedByContainer_doesNotKeepForm() throws Exception {
        app.wrap(request -> new DivertedRequest(
                worker -> {
                    throw new RejectedExecutionException("no thread");
                },
                request));
        CompletableFuture<Boolean> over = new CompletableFuture<>();
        app.on((request, response) -> {
            request.getParts();
            RequestState state = RequestState.of(request);
            AsyncContext async = request.startAsync();
            assertThrows(RejectedExecutionException.class, () -> async.start(() -> {}));
            // The listener of the filter runs first.
            async.addListener(new RequestListener(event -> over.complete(state.lease.hasEnded()), event -> {}));
            async.complete();
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        assertTrue(over.get(10, TimeUnit.SECONDS), "the rejected worker keeps the form");
    }

    @Test
    void worker_throws_releasesForm() throws Exception {
        app.on((request, response) -> {
            request.getParts();
            AsyncContext async = request.startAsync();
            async.start(() -> {
                async.complete();
                throw new IllegalStateException("thrown by a worker");
            });
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        app.assertNothingLeft("a worker that throws");
    }

    @Test
    void worker_asyncContextRequest_hasParts() throws Exception {
        app.on((request, response) -> {
            AsyncContext async = request.startAsync();
            assertTrue(async.hasOriginalRequestAndResponse());
            async.start(() -> {
                try {
                    HttpServletRequest seen = (HttpServletRequest) async.getRequest();
                    async.getResponse().getWriter().print(seen.getParts().size() + seen.getParameter("a"));
                } catch (Exception e) {
                    app.thrown().add(e);
                }
                async.complete();
            });
        });
        app.start();
        assertEquals("21", app.post("/", FORM).body());
    }

    @Test
    void endedRequest_hasNeitherFormNorHold() throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        app.on((request, response) -> {
            request.getParts();
            // The container still uses the request object while it calls the listeners.
            HttpServletRequest wrapper = request;
            AsyncContext async = request.startAsync();
            async.addListener(new RequestListener(
                    event -> {
                        try {
                            assertThrows(IllegalStateException.class, wrapper::getParts);
                            assertThrows(IllegalStateException.class, () -> MultipartRequests.hold(wrapper));
                            assertEquals(null, wrapper.getParameter("x"));
                            done.complete(null);
                        } catch (Throwable e) {
                            done.completeExceptionally(e);
                        }
                    },
                    event -> {}));
            async.complete();
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        done.get(2, TimeUnit.MINUTES);
    }

    @Test
    void asyncCycles_shareOneForm() throws Exception {
        app.on((request, response) -> {
            Integer cycle = (Integer) request.getAttribute("cycle");
            int now = cycle == null ? 0 : cycle;
            request.setAttribute("cycle", now + 1);
            assertEquals(2, request.getParts().size());
            assertEquals(1, app.spool.files());
            if (now < 3) {
                request.startAsync().dispatch();
            } else {
                response.getWriter().print("cycle " + now);
            }
        });
        app.start();
        assertEquals("cycle 3", app.post("/", FORM).body());
    }

    @Test
    void startAsync_onWrappedRequest_isDetected() throws Exception {
        app.on((request, response) -> {
            Part part = request.getPart("f");
            ServletRequest raw = ((ServletRequestWrapper) request).getRequest();
            AsyncContext async = raw.startAsync();
            async.start(() -> {
                try {
                    async.getResponse().getWriter().print(part.getInputStream().readAllBytes().length);
                } catch (Exception e) {
                    app.thrown().add(e);
                }
                async.complete();
            });
        });
        app.start();
        assertEquals("100000", app.post("/", FORM).body());
    }

    @Test
    void form_concurrentCallers_getSameForm() throws Exception {
        app.on((request, response) -> {
            CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> {
                try {
                    return System.identityHashCode(MultipartRequests.form(request));
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            int here = System.identityHashCode(MultipartRequests.form(request));
            response.getWriter().print(other.get() == here);
        });
        app.start();
        assertEquals("true", app.post("/", FORM).body());
    }

    /** Both callers read the texts before one of them publishes its own. */
    @Test
    void parameters_concurrentCallers_areChargedOnce() throws Exception {
        CyclicBarrier bothRead = new CyclicBarrier(2);
        AtomicBoolean waits = new AtomicBoolean();
        app.wrap(wrapped -> new HttpServletRequestWrapper(wrapped) {
            @Override
            public String getCharacterEncoding() { // called by each reader of the texts
                if (waits.get()) {
                    try {
                        bothRead.await(1, TimeUnit.MINUTES);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }
                return super.getCharacterEncoding();
            }
        });
        app.on((request, response) -> {
            request.getParts();
            long before = app.memory.used();
            waits.set(true);
            CompletableFuture<String> other = CompletableFuture.supplyAsync(() -> request.getParameter("a"));
            String here = request.getParameter("a");
            other.join();
            response.getWriter().print(here.length() + " " + (app.memory.used() - before));
        });
        app.start();
        assertEquals(
                "100 200",
                app.post("/", new TestForm().field("a", "x".repeat(100))).body());
    }

    @Test
    void twoFilters_eager_shareOneRequest() throws Exception {
        SluiceFilter second = SluiceFilter.builder(app.formOptions()).eager().build();
        app.on((request, response) -> response.getWriter()
                .print(request.getParts().size() + " " + app.filter().live() + " " + second.live()));
        app.after(second);
        app.start();
        assertEquals("2 1 1", app.post("/", FORM).body());
        Eventually.isTrue(() -> second.live() == 0, "the request is still live");
    }

    /** An error page must not wait for the body of a request that has not ended. */
    @Test
    void eagerFilter_onErrorPageOnly_doesNotParse() throws Exception {
        SluiceFilter eager = SluiceFilter.builder(app.formOptions()).eager().build();
        app.after(new Filter() {
            @Override
            public void init(FilterConfig config) throws ServletException {
                eager.init(config);
            }

            @Override
            public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                    throws IOException, ServletException {
                if (request.getDispatcherType() == DispatcherType.ERROR) {
                    eager.doFilter(request, response, chain);
                } else {
                    chain.doFilter(request, response);
                }
            }

            @Override
            public void destroy() {
                eager.destroy();
            }
        });
        app.on("/", (request, response) -> {
            request.startAsync();
            throw new IllegalStateException("thrown by the application");
        });
        app.errorPage((request, response) ->
                response.getWriter().print(request.getParts().size() + " parts"));
        app.start();
        assertEquals("0 parts", app.post("/", FORM).body());
    }

    @Test
    void threeFilters_requestEnded_noneKeepsIt() throws Exception {
        SluiceFilter second = SluiceFilter.of(app.formOptions());
        SluiceFilter third = SluiceFilter.of(app.formOptions());
        app.on((request, response) ->
                response.getWriter().print(request.getParts().size() + " " + second.live() + " " + third.live()));
        app.after(second).after(third).start();
        assertEquals("2 0 1", app.post("/", FORM).body());
        Eventually.isTrue(() -> second.live() + third.live() == 0, "the request is still live");
    }

    /** A late call must not read the body, because the connection may already carry the next request. */
    @Test
    void getParts_afterEndWithHold_doesNotReadBody() throws Exception {
        CompletableFuture<HttpServletRequest> held = new CompletableFuture<>();
        CompletableFuture<Integer> seen = new CompletableFuture<>();
        app.on((request, response) -> {
            MultipartRequests.Hold hold = MultipartRequests.hold(request);
            seen.whenComplete((parts, failure) -> hold.close());
            held.complete(request);
        });
        app.before((request, response, chain) -> {
            chain.doFilter(request, response);
            try { // like an application thread without a hold
                seen.complete(held.join().getParts().size());
            } catch (Exception e) {
                seen.completeExceptionally(e);
            }
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        Throwable cause = assertThrows(ExecutionException.class, () -> seen.get(2, TimeUnit.MINUTES))
                .getCause();
        assertInstanceOf(IllegalStateException.class, cause);
        assertTrue(cause.getMessage().contains("its body was not read"), cause::toString);
    }

    @Test
    void destroy_afterLastByte_closesForm() throws Exception {
        app.on((request, response) -> MultipartRequests.form(
                        request,
                        options -> options.progress(
                                progress -> {
                                    if (progress.ended()) {
                                        app.filter().destroy();
                                    }
                                },
                                Duration.ZERO)))
                .start();
        assertEquals(200, app.post("/", FORM).status());
    }

    @Test
    void destroy_whileReading_endsForm() throws Exception {
        app.on((request, response) -> request.getParts()).start();
        try (RawHttp client = app.begin(FORM, 1)) {
            app.filter().destroy(); // interrupts the thread that waits for the client
            Eventually.isTrue(() -> !app.thrown().isEmpty(), "the reading thread was not interrupted");
            IOException thrown =
                    assertInstanceOf(IOException.class, app.thrown().peek());
            assertTrue(thrown.getMessage().contains("stopped"), thrown.toString());
            assertTrue(client.channel().isOpen());
        }
    }
}
