package dev.sluice.samples.servlet.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MultipartForm;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.BrowserForm;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TenUploads;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the servlet samples of the guide. */
@Timeout(300)
class ReadmeServletTest {
    @TempDir
    Path directory;

    @TempDir
    Path scratch;

    private final Server server = new Server();
    private final ServletContextHandler context = new ServletContextHandler();

    /** An ordinary servlet, without a multipart configuration. */
    private static final class Parts extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            List<String> names = new ArrayList<>();
            try {
                for (Part part : request.getParts()) {
                    names.add(part.getName());
                }
            } catch (ServletException e) {
                throw new IOException(e);
            }
            response.getWriter().print(names + ", " + request.getParameter("a"));
        }
    }

    private URI serve(HttpServlet servlet) throws Exception {
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setShutdownIdleTimeout(100);
        server.addConnector(connector);
        context.setTempDirectory(directory.toFile());
        context.addEventListener(new FilterSetUp());
        ServletHolder holder = new ServletHolder(servlet);
        holder.setAsyncSupported(true);
        context.addServlet(holder, "/upload");
        server.setHandler(context);
        server.start();
        return URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/upload");
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    private static ServerResponse post(URI target, byte[] body) throws Exception {
        return JavaHttpClient.post(target, TestForm.CONTENT_TYPE, body);
    }

    private String sendTen(URI target) throws Exception {
        return new TenUploads(target.getPort(), "/upload", "f", "image/jpeg", 100 << 20)
                .send(() -> 0L, () -> (long) SpooledFiles.below(directory).size());
    }

    @Test
    void filter_providesPartsToOrdinaryServlet() throws Exception {
        byte[] body =
                new TestForm().field("a", "1").file("f", "x", new byte[100_000]).body();

        assertEquals("[a, f], 1", post(serve(new Parts()), body).text());
    }

    @Test
    void deviations_areListed() throws Exception {
        byte[] body = new String(new TestForm().field("a", "1").body(), StandardCharsets.US_ASCII)
                .replaceFirst("\r\n", " \r\n")
                .getBytes(StandardCharsets.US_ASCII);
        URI target = serve(new DeviationServlet());
        ServerResponse response = post(target, body);
        assertTrue(response.text().startsWith("[TRANSPORT_PADDING at "), response.text());
        assertEquals(TenUploads.all(200).replaceAll("\\d stored", "0 stored"), sendTen(target));
    }

    @Test
    void tenUploads_throughTheFilter_haveTheExpectedStatus() throws Exception {
        URI target = serve(new Parts());
        assertEquals(TenUploads.all(200).replaceAll("\\d stored", "0 stored"), sendTen(target));
        String shown = BrowserForm.submit(target, "f", scratch);
        assertTrue(shown.contains("[title, f, f, f], null"), shown);
    }

    @Test
    void tenUploads_asAsyncForms_haveTheExpectedStatus() throws Exception {
        URI target = serve(new StreamingServlet());
        SluiceFilter filter = (SluiceFilter)
                context.getServletHandler().getFilter("multipart").getFilter();
        String sent = new TenUploads(target.getPort(), "/upload", "f", "image/jpeg", 100 << 20)
                .send(() -> 0L, () -> (long) filter.live());
        assertEquals(TenUploads.all(200).replaceAll("\\d stored", "0 stored"), sent);
    }

    @Test
    void asyncForm_passesPartsToSinks() throws Exception {
        byte[] body =
                new TestForm().field("a", "1").file("f", "x", new byte[100_000]).body();
        assertEquals(
                "[a, f], " + body.length,
                post(serve(new StreamingServlet()), body).text());
    }

    @Test
    void asyncForm_hasNoTimeoutOfTheContainer() throws Exception {
        BlockingQueue<Long> timeouts = new LinkedBlockingQueue<>();
        Filter probe = (request, response, chain) -> {
            chain.doFilter(request, response);
            timeouts.add(request.getAsyncContext().getTimeout());
        };
        FilterHolder holder = new FilterHolder(probe);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", EnumSet.of(DispatcherType.REQUEST));
        URI target = serve(new StreamingServlet());
        byte[] body = new TestForm().field("a", "1").body();
        try (RawHttp client = new RawHttp(target.getPort())) {
            client.send(TestForm.head("/upload", body.length));
            assertEquals(0, timeouts.poll(5, TimeUnit.MINUTES));
            assertEquals(200, client.send(body).response().status());
        }
    }

    @Test
    void asyncForm_withoutAnswer_is500() throws Exception {
        URI target = serve(new StreamingServlet() {
            private static final long serialVersionUID = 1L;

            @Override
            void answer(HttpServletResponse response, MultipartForm form) {
                throw new IllegalStateException("no answer");
            }
        });
        assertEquals(500, post(target, new TestForm().field("a", "1").body()).status());
    }
}
