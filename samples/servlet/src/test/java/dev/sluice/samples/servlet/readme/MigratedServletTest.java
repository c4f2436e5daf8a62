package dev.sluice.samples.servlet.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TenUploads;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.http.HttpSessionAttributeListener;
import jakarta.servlet.http.HttpSessionBindingEvent;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.ee11.servlet.SessionHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The servlets of the page on migration, which have no filter in front. */
@Timeout(60)
class MigratedServletTest {
    private static final byte[] TOO_LARGE = new TestForm()
            .field("title", "x")
            .file("photo", "holiday.jpg", new byte[(10 << 20) + 1])
            .body();

    @TempDir
    Path directory;

    private final Server server = new Server();
    private final Queue<Object> percents = new ConcurrentLinkedQueue<>();
    private Path store;
    private URI target;

    @BeforeEach
    void start() throws Exception {
        store = Files.createDirectory(directory.resolve("store"));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        SessionHandler sessions = new SessionHandler();
        sessions.addEventListener(new HttpSessionAttributeListener() {
            @Override
            public void attributeAdded(HttpSessionBindingEvent event) {
                percents.add(event.getValue());
            }

            @Override
            public void attributeReplaced(HttpSessionBindingEvent event) {
                percents.add(event.getSession().getAttribute("percent"));
            }
        });
        context.setSessionHandler(sessions);
        context.addServlet(
                new ServletHolder(new MigratedServlet(Files.createDirectory(directory.resolve("spool")), store)), "/");
        server.setHandler(context);
        server.start();
        target = URI.create("http://127.0.0.1:" + connector.getLocalPort() + "/");
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
        assertEquals(List.of(), SpooledFiles.below(directory.resolve("spool")));
    }

    private HttpResponse<String> send(String method, String contentType, byte[] body) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(target)
                                .header("Content-Type", contentType)
                                .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void post_form_storesItsFiles() throws Exception {
        byte[] body = new TestForm()
                .file("a", "a", new byte[100])
                .file("b", "b", new byte[100_000])
                .body();
        assertEquals(200, send("POST", TestForm.CONTENT_TYPE, body).statusCode());
        assertEquals(2, SpooledFiles.below(store).size());
    }

    @Test
    void post_tenUploads_areStoredOrRejected() throws Exception {
        String sent = new TenUploads(target.getPort(), "/", "photo", "image/jpeg", 10 << 20)
                .send(() -> (long) SpooledFiles.below(store).size(), () ->
                        (long) SpooledFiles.below(directory.resolve("spool")).size());
        assertEquals(TenUploads.all(200), sent);
    }

    @Test
    void post_bodyThatFileUploadAccepts_isRejectedAsThePageSays() throws Exception {
        assertEquals(413, send("POST", TestForm.CONTENT_TYPE, TOO_LARGE).statusCode());
        byte[] body = new TestForm().field("a", "1").body();
        String mixed = TestForm.CONTENT_TYPE.replace("form-data", "mixed");
        assertEquals(415, send("POST", mixed, body).statusCode());
        assertEquals(415, send("POST", "application/json", body).statusCode());
    }

    @Test
    void put_form_showsProgressInPercent() throws Exception {
        byte[] body = new TestForm().file("photo", "a", new byte[3 << 20]).body();
        assertEquals("1 files", send("PUT", TestForm.CONTENT_TYPE, body).body());
        Object last = null;
        for (Object each : percents) {
            last = each;
        }
        assertEquals(100L, last, percents::toString);
    }

    @Test
    void put_fileTooLarge_isNamedInTheResponse() throws Exception {
        HttpResponse<String> response = send("PUT", TestForm.CONTENT_TYPE, TOO_LARGE);
        assertEquals("413 photo, holiday.jpg", response.statusCode() + " " + response.body());
        String type = response.headers().firstValue("Content-Type").orElse("");
        assertTrue(type.startsWith("text/plain"), "a browser may run scripts in the names: " + type);
    }
}
