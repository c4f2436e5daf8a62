package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Forms in responses that the client of {@code java.net.http} receives from a server. */
class FormBodyHandlerTest extends SpooledTest {
    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private final HttpClient client = HttpClient.newHttpClient();
    private HttpServer server;
    private String type;
    private byte[] body;
    private long contentLength;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", type);
            exchange.sendResponseHeaders(200, contentLength);
            exchange.getResponseBody().write(body);
            exchange.close(); // throws if bytes are missing, and closes the connection
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        executor.shutdown();
    }

    private MultipartForm receive(FormOptions.Builder options) throws IOException, InterruptedException {
        FormOptions built = options.build();
        FormBodyHandler handler = FormBodyHandler.of(Forms.of(built), built, executor);
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        return client.send(HttpRequest.newBuilder(uri).build(), handler).body();
    }

    private FormOptions.Builder options() {
        return FormOptions.builder(spool, budget).spillThreshold(1000);
    }

    private static byte[] photo() {
        byte[] photo = new byte[2_000_000];
        new Random(1).nextBytes(photo);
        return photo;
    }

    private void answer(MultipartBody form) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        form.writeTo(out);
        body = out.toByteArray();
        type = form.contentType();
        contentLength = body.length;
    }

    @Test
    void response_isDecoded() throws Exception {
        answer(MultipartBody.builder()
                .field("title", "Sea")
                .file("photo", "a.jpg", "image/jpeg", Content.of(photo()))
                .build());
        for (long length : new long[] {body.length, 0}) { // 0: in chunks
            contentLength = length;
            try (MultipartForm form = receive(options())) {
                assertEquals("Sea", form.text("title"));
                assertArrayEquals(photo(), form.file("photo").bytes());
            }
        }
    }

    @Test
    void response_endingEarlyOrWithIncompleteForm_fails() throws Exception {
        answer(MultipartBody.builder()
                .file("photo", "a.jpg", "image/jpeg", Content.of(photo()))
                .build());
        body = Arrays.copyOf(body, body.length - 10);
        assertThrows(IOException.class, () -> receive(options())); // the connection ends before the declared length
        contentLength = body.length;
        assertEquals(Reason.TRUNCATED, rejection(options()).reason());
    }

    @Test
    void response_ofAnotherType_orBeyondALimit_fails() throws Exception {
        answer(MultipartBody.builder("mixed").build());
        assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, rejection(options()).reason());
        answer(MultipartBody.builder()
                .file("photo", "a.jpg", "image/jpeg", Content.of(photo()))
                .build());
        assertEquals(
                Reason.PART_TOO_LARGE,
                rejection(options().maxPartBytes(1_000_000)).reason());
    }

    private MultipartException rejection(FormOptions.Builder options) {
        IOException wrapped = assertThrows(IOException.class, () -> receive(options));
        return assertInstanceOf(MultipartException.class, wrapped.getCause());
    }
}
