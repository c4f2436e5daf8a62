package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MultipartForm;
import dev.sluice.s3.Bench;
import dev.sluice.s3.S3Form;
import dev.sluice.s3.Uploads;
import dev.sluice.s3.Uploads.File;
import dev.sluice.s3.Weed;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.RawHttp;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files stored directly in an object store after the filter, in a container, with the blocking and the asynchronous
 * API.
 */
@ExtendWith(Weed.IsThere.class)
class ObjectStoreTest {
    private static final int MIB = 1 << 20;
    private static final List<File> FILES =
            List.of(new File("small", 100_000), new File("large", 20 * MIB + 1), new File("empty", 0));

    private final Queue<S3Form> begun = new ConcurrentLinkedQueue<>();
    private final BlockingQueue<FormSummary> ended = new LinkedBlockingQueue<>();
    private final Server server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private Bench bench;

    @SuppressWarnings("serial")
    private final class Storing extends HttpServlet {
        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            S3Form objects = bench.sinks.newForm();
            begun.add(objects);
            UnaryOperator<FormOptions.Builder> toStore =
                    options -> options.admission(objects).decider(objects);
            if (request.getPathInfo().equals("/blocking")) {
                respond(response, MultipartRequests.form(request, toStore));
            } else {
                AsyncContext context = request.startAsync();
                MultipartRequests.receive(request, toStore).completion().whenComplete((form, failure) -> {
                    try {
                        if (form != null) {
                            respond(response, form);
                        } else {
                            MultipartRequests.sendError(response, failure);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    } finally {
                        context.complete();
                    }
                });
            }
        }

        private void respond(HttpServletResponse to, MultipartForm form) throws IOException {
            to.getWriter().print(form.text("title"));
        }
    }

    @BeforeEach
    void start() throws Exception {
        bench = new Bench();
        ServletContextHandler context = new ServletContextHandler("/");
        ServletHolder servlet = new ServletHolder(new Storing());
        servlet.setAsyncSupported(true);
        context.addServlet(servlet, "/*");
        FilterHolder filter = new FilterHolder(SluiceFilter.of(bench.forms.options().toBuilder()
                .allocator(bench.allocator)
                .metrics(ended::add)
                .build()));
        filter.setAsyncSupported(true);
        context.addFilter(filter, "/*", EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        server.setHandler(context);
        server.start();
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
        bench.close();
    }

    private RawHttp connect() throws IOException {
        return new RawHttp(server.getURI().getPort());
    }

    private static byte[] request(String api) throws IOException {
        byte[] body = Uploads.body(FILES).readAllBytes();
        String head = "POST " + api + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + Uploads.CONTENT_TYPE
                + "\r\nContent-Length: " + body.length + "\r\n\r\n";
        byte[] request = new byte[head.length() + body.length];
        System.arraycopy(head.getBytes(StandardCharsets.US_ASCII), 0, request, 0, head.length());
        System.arraycopy(body, 0, request, head.length(), body.length);
        return request;
    }

    @ParameterizedTest
    @ValueSource(strings = {"/blocking", "/asynchronous"})
    void answeredForm_isStoredUnchanged(String api) throws Exception {
        try (RawHttp client = connect()) {
            assertEquals("title", client.send(request(api)).response().body());
            S3Form stored = begun.remove();
            bench.assertStored(stored, FILES);
            bench.assertNothingLeftBut(stored);
            FormSummary summary = ended.poll(2, TimeUnit.MINUTES);
            assertEquals(FormSummary.Outcome.COMPLETED, summary.outcome());
            assertEquals(FILES.size(), summary.files());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/blocking", "/asynchronous"})
    void rejectedForm_leavesNothing(String api) throws Exception {
        byte[] request = request(api);
        request[request.length - 4] = 'x'; // in the last delimiter
        try (RawHttp client = connect()) {
            assertEquals(400, client.send(request).response().status());
        }
        assertNothingIsThere();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/blocking", "/asynchronous"})
    void clientDisconnects_leavesNothing(String api) throws Exception {
        byte[] request = request(api);
        try (RawHttp client = connect()) {
            client.send(request, 0, request.length - 1000);
            Weed.await(() -> assertTrue(bench.count(".*partNumber.*") > 0));
            client.reset();
        }
        assertNothingIsThere();
    }

    private void assertNothingIsThere() throws Exception {
        assertNotEquals(
                FormSummary.Outcome.COMPLETED, ended.poll(2, TimeUnit.MINUTES).outcome());
        assertEquals(List.of(), begun.remove().objects());
        bench.assertNothingLeftBut();
        assertTrue(bench.count(".*partNumber.*") > 0);
    }
}
