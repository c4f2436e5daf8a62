package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.GatedSink;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Attacks of {@code parser/docs/threats.md} on the servlet adapter, through the filter in each container. Each test is
 * named after a row of that page, and fails if the defence is removed.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class ContainerThreatsTest extends AppTestBase {
    /** The length of {@code "0\r\n\r\n"}, the chunk that ends a body. */
    private static final int END_OF_CHUNKS = 5;

    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.txt", TestForm.noise(100_000, 1));

    private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

    private String next() throws InterruptedException {
        String next = seen.poll(2, TimeUnit.MINUTES);
        assertNotNull(next, "the servlet was not called");
        return next;
    }

    private static void attempt(Work work, HttpServletRequest request, HttpServletResponse response) {
        try {
            work.run(request, response);
        } catch (Exception e) {
            // the container throws, because the servlet has no multipart configuration
        }
    }

    @ParameterizedTest
    @EnumSource
    void cve_2026_3260_bodyOfGetHeadOrDelete_isNotParsed(ServletContainer kind) throws Exception {
        app.options(options -> options.spillThreshold(0));
        app.on((request, response) -> {
            attempt((asked, ignored) -> asked.getParts(), request, response);
            attempt((asked, ignored) -> asked.getParameterMap(), request, response);
            String left = app.spool.files() + " files, " + app.memory.used() + " bytes in memory, ";
            seen.add(left + request.getInputStream().readAllBytes().length + " bytes unread");
        });
        for (SluiceFilter filter : List.of(
                SluiceFilter.builder(app.formOptions())
                        .refuseOtherMultipart(false)
                        .build(),
                SluiceFilter.builder(app.formOptions())
                        .refuseOtherMultipart(false)
                        .eager()
                        .build())) {
            app.start(kind, filter);
            for (String method : List.of("GET", "HEAD", "DELETE")) {
                try (RawHttp connection = app.connect()) {
                    connection.send(TestForm.request(method, "/", TestForm.CONTENT_TYPE, FORM.body()));
                    assertEquals("0 files, 0 bytes in memory, " + FORM.body().length + " bytes unread", next(), method);
                }
            }
        }
    }

    /** Receives a form and records its number of parts or its failure. */
    private void receive(HttpServletRequest request, HttpServletResponse response) throws Exception {
        if ("async".equals(request.getQueryString())) {
            recordResult(MultipartRequests.receive(request), request);
        } else {
            try {
                seen.add(request.getParts().size() + " parts");
            } catch (MultipartRequestException e) {
                seen.add(describe(e));
            }
        }
    }

    private void recordResult(AsyncForm form, HttpServletRequest request) {
        form.completion().whenComplete((done, failure) -> {
            seen.add(failure == null ? done.parts().size() + " parts" : describe(failure));
            request.getAsyncContext().complete();
        });
    }

    private static String describe(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof MultipartException rejected) {
                return rejected.httpStatus() + " " + rejected.reason();
            }
        }
        return failure.toString();
    }

    private void assertComesOf(String outcome, byte[] body) throws Exception {
        for (String target : List.of("/work", "/work?async")) {
            try (RawHttp connection = app.connect()) {
                connection.send(TestForm.chunked(target, body, 1000));
                assertEquals(outcome, next(), target);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void cve_2026_34829_bodyOfUnknownLength_isLimited(ServletContainer kind) throws Exception {
        app.on(this::receive);
        byte[] body = FORM.body();
        app.options(options -> options.maxBodyBytes(body.length)).start(kind);
        assertComesOf("2 parts", body);
        app.options(options -> options.maxBodyBytes(body.length - 1)).start(kind);
        assertComesOf("413 BODY_TOO_LARGE", body);
    }

    @ParameterizedTest
    @EnumSource
    void pythonMultipart_297_invalidLength_isRejected(ServletContainer kind) throws Exception {
        byte[] body = FORM.body();
        AtomicLong announced = new AtomicLong();
        app.on(this::receive).options(options -> options.maxBodyBytes(body.length));
        app.wrap(request -> announced.get() == 0 ? request : announcing(request, announced.get()));
        app.start(kind);
        for (String length :
                List.of("-1", "+5", "1e3", "99999999999999999999", "5\r\nContent-Length: 6", "5, 6", "0x10", "")) {
            byte[] head = TestForm.head("/work", "Content-Length: " + length);
            assertEquals(400, app.send(head).status(), length);
        }
        assertTrue(seen.isEmpty(), () -> seen + " although the length is invalid");
        for (long length : new long[] {Long.MIN_VALUE, -5, -1, 1}) {
            announced.set(length);
            assertComesOf("2 parts", body);
            assertComesOf("413 BODY_TOO_LARGE", TestForm.join(body, new byte[] {'\n'}));
        }
    }

    /** {@return the request, but with another Content-Length, which a container might accept without a check} */
    private static HttpServletRequest announcing(HttpServletRequest request, long length) {
        return new HttpServletRequestWrapper(request) {
            @Override
            public long getContentLengthLong() {
                return length;
            }

            @Override
            public int getContentLength() {
                return (int) length;
            }
        };
    }

    /** A sink that records the threads that call it. */
    private record ThreadsOf(Set<Thread> threads, PartSink then) implements PartSink {
        @Override
        public Readiness write(ByteBuf data) throws IOException {
            threads.add(Thread.currentThread());
            return then.write(data);
        }

        @Override
        public Readiness complete() throws IOException {
            threads.add(Thread.currentThread());
            return then.complete();
        }

        @Override
        public void close() {
            threads.add(Thread.currentThread());
        }
    }

    private static boolean isForConnections(Thread thread) {
        return Stream.of("I/O", "Poller", "Acceptor", "acceptor", "selector").anyMatch(thread.getName()::contains);
    }

    /** Undertow calls read listeners, and therefore the sinks of an asynchronous form, on its I/O threads. */
    @ParameterizedTest
    @EnumSource
    void cve_2025_54121_sink_runsOnContainerThread(ServletContainer kind) throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        Set<Thread> threadsOfServlets = ConcurrentHashMap.newKeySet();
        GatedSink gate = new GatedSink().shut();
        Set<Thread> asyncThreads = ConcurrentHashMap.newKeySet();
        app.on("/async", (request, response) -> {
            PartSink sink = new ThreadsOf(asyncThreads, gate);
            recordResult(
                    MultipartRequests.receive(request, options -> options.decider(part -> PartDecision.to(sink))),
                    request);
        });
        app.on("/work", (request, response) -> {
            threadsOfServlets.add(Thread.currentThread());
            seen.add(request.getParts().size() + " parts");
        });
        app.options(options -> options.decider(part -> PartDecision.to(new ThreadsOf(threads, PartSink.discard()))));
        app.start(kind);
        try (RawHttp connection = app.connect()) {
            connection.send(FORM.post("/work"));
            assertEquals("0 parts", next());
            assertEquals(200, connection.response().status());
            byte[] body = FORM.body();
            connection.send(TestForm.head("/async", body.length));
            connection.send(body);
            Eventually.isTrue(() -> gate.bytes() > 0, "the sink received no bytes");
            gate.open();
            assertEquals("0 parts", next());
        }
        assertEquals(threadsOfServlets, threads);
        assertFalse(threads.stream().anyMatch(ContainerThreatsTest::isForConnections), threads::toString);
        assertFalse(asyncThreads.contains(Thread.currentThread()), "a sink ran on the thread that opened the gate");
        assertTrue(
                kind == ServletContainer.UNDERTOW
                        || asyncThreads.stream().noneMatch(ContainerThreatsTest::isForConnections),
                asyncThreads::toString);
    }

    @ParameterizedTest
    @EnumSource
    void cve_2023_26048_largeField_isRejectedInSmallHeap(ServletContainer kind) throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC", // this collector and this compiler start faster than the others
                        "-XX:TieredStopAtLevel=1",
                        "-XX:MaxDirectMemorySize=32m",
                        "-XX:+ExitOnOutOfMemoryError",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        kind.name(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader output = child.inputReader(StandardCharsets.US_ASCII)) {
            int port = Integer.parseInt(output.readLine());
            assertEquals("413 BODY_TOO_LARGE", sendField(port, "/limited/parts", 1 << 30, output));
            assertEquals("507 SPOOL_FULL", sendField(port, "/unlimited/parts", 1 << 30, output));
            assertEquals("413 IN_MEMORY_TOO_LARGE", sendField(port, "/unlimited/text", 72 << 20, output));
            child.getOutputStream().close();
            assertEquals("0 files, 0 bytes in memory", output.readLine());
            assertTrue(child.waitFor(1, TimeUnit.MINUTES));
        } finally {
            child.destroyForcibly();
        }
    }

    /**
     * Sends a field without a file name, of {@code size} bytes or until the child prints a result.
     *
     * @return the result that the child prints
     */
    private static String sendField(int port, String target, long size, BufferedReader output) throws IOException {
        byte[] chunk = TestForm.chunked(new byte[1 << 20], 1 << 20);
        byte[] open = new TestForm()
                .part("Content-Disposition: form-data; name=\"f\"", "")
                .open();
        byte[] unfinished = Arrays.copyOf(open, open.length - 2); // without the last line end
        byte[] head = TestForm.chunked(target, unfinished, open.length);
        try (RawHttp connection = new RawHttp(port)) {
            connection.send(head, 0, head.length - END_OF_CHUNKS);
            for (long sent = 0; sent < size && !output.ready(); sent += 1 << 20) {
                connection.send(chunk, 0, chunk.length - END_OF_CHUNKS);
            }
            connection.send(TestForm.chunked(
                    ("\r\n--" + TestForm.BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII), 99));
        } catch (IOException e) {
            // rejected: the container closes the connection without reading the rest
        }
        return output.readLine();
    }

    /** A container in a separate JVM. It prints the result of each request, and stops at the end of its input. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws Exception {
            Path root = Path.of(arguments[1]);
            MemoryBudget memory = MemoryBudget.of(8 << 20);
            try (SpoolDirectory spool = SpoolDirectory.builder(root.resolve("small"))
                    .maxSpoolBytes(80 << 20)
                    .keepFreeBytes(0)
                    .open()) {
                FormOptions limited = FormOptions.builder(spool, memory).build();
                FormOptions unlimited = limited.toBuilder().unlimitedBodyBytes().build();
                WebApp app = new WebApp(Files.createDirectory(root.resolve("child")))
                        .largeBodies()
                        .servlet("/*", servlet())
                        .filter("/limited/*", SluiceFilter.of(limited))
                        .filter("/unlimited/*", SluiceFilter.of(unlimited));
                try (RunningContainer container =
                        ServletContainer.valueOf(arguments[0]).start(app)) {
                    System.out.println(container.port());
                    while (System.in.read() >= 0) {}
                    Eventually.isTrue(() -> spool.files() == 0 && memory.used() == 0, spool::toString);
                    System.out.println(spool.files() + " files, " + memory.used() + " bytes in memory");
                }
            }
        }

        private static WorkServlet servlet() {
            return new WorkServlet()
                    .at("/limited/parts", (request, response) -> report(request::getParts))
                    .at("/unlimited/parts", (request, response) -> report(request::getParts))
                    .at("/unlimited/text", (request, response) -> report(() -> request.getParameter("f")));
        }

        private static void report(Callable<Object> form) throws Exception {
            try {
                System.out.println("accepted: " + form.call());
            } catch (MultipartRequestException e) {
                System.out.println(describe(e));
                throw e;
            }
        }
    }
}
