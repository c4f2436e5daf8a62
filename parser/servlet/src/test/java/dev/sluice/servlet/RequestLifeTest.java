package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.PartContent;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When files and memory of a request go: {@link JettyApp#close()} sees to it that they do. */
@Timeout(30)
class RequestLifeTest {
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

    private static <T> T next(BlockingQueue<T> queue) throws Exception {
        T next = queue.poll(10, TimeUnit.SECONDS);
        if (next == null) {
            throw new TimeoutException();
        }
        return next;
    }

    @Test
    void aDetachedFileOutlivesTheRequest() throws Exception {
        BlockingQueue<PartContent> detached = new ArrayBlockingQueue<>(1);
        app.on(
                "/*",
                (request, response) ->
                        detached.add(MultipartRequests.form(request).part("f").detach()));
        app.start();
        assertEquals(200, app.post("/", form()).status());
        try (PartContent content = next(detached)) {
            JettyApp.eventually("the request is over", () -> app.filter().live() == 0);
            assertEquals(100_000, content.toByteArray().length);
        }
    }

    @Test
    void aWorkerThatNeverComesDoesNotKeepTheFormForEver() throws Exception {
        // As Jetty does with workers that have not begun when the request ends.
        FilterHolder dropping = new FilterHolder((Filter) (request, response, chain) -> chain.doFilter(
                new HttpServletRequestWrapper((HttpServletRequest) request) {
                    @Override
                    public AsyncContext startAsync() {
                        AsyncContext async = super.startAsync();
                        return (AsyncContext) Proxy.newProxyInstance(
                                AsyncContext.class.getClassLoader(),
                                new Class<?>[] {AsyncContext.class},
                                (proxy, method, arguments) ->
                                        method.getName().equals("start") ? null : method.invoke(async, arguments));
                    }
                },
                response));
        dropping.setAsyncSupported(true);
        app.context().addFilter(dropping, "/*", EnumSet.of(DispatcherType.REQUEST));
        app.on("/*", (request, response) -> {
            request.getParts();
            AsyncContext async = request.startAsync();
            async.start(() -> app.thrown.add(new AssertionError("not dropped")));
            async.complete();
        });
        app.start();
        assertEquals(200, app.post("/", form()).status());
        assertEquals(1, app.spool.files());
        app.assertNothingLeft();
        assertTrue(app.thrown.isEmpty());
    }

    @Test
    void aWorkerGetsThePartsOfTheContextEvenIfItWasStartedWithoutArguments() throws Exception {
        app.on("/*", (request, response) -> {
            AsyncContext async = request.startAsync();
            assertTrue(async.hasOriginalRequestAndResponse());
            async.start(() -> {
                try {
                    HttpServletRequest seen = (HttpServletRequest) async.getRequest();
                    async.getResponse().getWriter().print(seen.getParts().size() + seen.getParameter("a"));
                } catch (Exception e) {
                    app.thrown.add(e);
                }
                async.complete();
            });
        });
        app.start();
        assertEquals("21", app.post("/", form()).body());
    }

    @Test
    void afterTheRequestThereIsNoFormAndNoHold() throws Exception {
        BlockingQueue<HttpServletRequest> requests = new ArrayBlockingQueue<>(1);
        CompletableFuture<Void> done = new CompletableFuture<>();
        app.on("/*", (request, response) -> {
            request.getParts();
            requests.add(request);
            // Completed on the wrapped request behind the filter's back, so that the request object still lives.
            HttpServletRequest wrapper = request;
            AsyncContext async = request.startAsync();
            async.addListener(new AsyncListener() {
                @Override
                public void onComplete(AsyncEvent event) {
                    try {
                        assertThrows(IllegalStateException.class, wrapper::getParts);
                        assertThrows(IllegalStateException.class, () -> MultipartRequests.hold(wrapper));
                        assertEquals(null, wrapper.getParameter("x"));
                        done.complete(null);
                    } catch (Throwable e) {
                        done.completeExceptionally(e);
                    }
                }

                @Override
                public void onTimeout(AsyncEvent event) {}

                @Override
                public void onError(AsyncEvent event) {}

                @Override
                public void onStartAsync(AsyncEvent event) {}
            });
            async.complete();
        });
        app.start();
        assertEquals(200, app.post("/", form()).status());
        done.get(10, TimeUnit.SECONDS);
    }

    @Test
    void troubleInADispatchIsAnsweredAsWell() throws Exception {
        app.on("/*", (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                request.getParts();
            } else {
                request.startAsync().dispatch();
            }
        });
        app.start();
        assertEquals(400, app.post("/", new FormBody().text("--Bgarbage")).status());
    }

    @Test
    void severalCyclesOfOneRequestAreOneLife() throws Exception {
        app.on("/*", (request, response) -> {
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
        assertEquals("cycle 3", app.post("/", form()).body());
    }

    @Test
    void asynchronyThatWasStartedBehindTheFiltersBackCountsToo() throws Exception {
        app.on("/*", (request, response) -> {
            Part part = request.getPart("f");
            ServletRequest raw = ((ServletRequestWrapper) request).getRequest();
            AsyncContext async = raw.startAsync();
            async.start(() -> {
                try {
                    async.getResponse().getWriter().print(part.getInputStream().readAllBytes().length);
                } catch (Exception e) {
                    app.thrown.add(e);
                }
                async.complete();
            });
        });
        app.start();
        assertEquals("100000", app.post("/", form()).body());
    }

    @Test
    void twoThreadsThatAskAtOnceGetTheSameForm() throws Exception {
        app.on("/*", (request, response) -> {
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
        assertEquals("true", app.post("/", form()).body());
    }

    @Test
    void asSecondFilterLeavesTheRequestToTheFirst() throws Exception {
        app.on(
                "/*",
                (request, response) ->
                        response.getWriter().print(request.getParts().size()));
        app.start();
        FilterHolder second = new FilterHolder(
                MultipartFilter.builder(app.formOptions()).eager().build());
        second.setAsyncSupported(true);
        app.context().addFilter(second, "/*", EnumSet.allOf(DispatcherType.class));
        assertEquals("2", app.post("/", form()).body());
    }

    @Test
    void destroyingTheFilterEndsAFormThatIsBeingRead() throws Exception {
        app.on("/*", (request, response) -> request.getParts()).start();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20)).send(form().open());
            JettyApp.eventually("the body is being read", () -> app.spool.files() == 1);
            app.filter().destroy(); // what waits for the client is woken
            JettyApp.eventually("it is noticed", () -> !app.thrown.isEmpty());
            assertInstanceOf(IOException.class, app.thrown.peek());
            assertTrue(
                    app.thrown.peek().getMessage().contains("stopped"),
                    app.thrown.peek().toString());
        }
    }
}
