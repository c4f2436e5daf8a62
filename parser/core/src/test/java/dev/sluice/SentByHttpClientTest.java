package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bodies sent by the client of {@code java.net.http}, to a server that redirects {@code /moved} to {@code /}. */
class SentByHttpClientTest {
    private final List<String> received = new CopyOnWriteArrayList<>();
    private final HttpClient client =
            HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        StringBuilder form = new StringBuilder();
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        try (MultipartReader reader = MultipartReader.create(exchange.getRequestBody(), type, strict)) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                form.append(part.name())
                        .append('=')
                        .append(part.text().length())
                        .append(' ');
            }
        }
        received.add(form + String.valueOf(exchange.getRequestHeaders().getFirst("Content-Length")));
        boolean moved = exchange.getRequestURI().getPath().equals("/moved");
        exchange.getResponseHeaders().set("Location", "/");
        exchange.sendResponseHeaders(moved ? 307 : 201, -1);
        exchange.close();
    }

    private int send(MultipartBody body, String path) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("Content-Type", body.contentType())
                .POST(body.publisher())
                .build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }

    @Test
    void redirect_sendsTheBodyAgainWithItsExactLength() throws Exception {
        MultipartBody body = MultipartBody.builder()
                .field("a", "b")
                .file("c", "d", "e/f", Content.of(new byte[100_000]))
                .build();
        assertEquals(201, send(body, "/moved"));
        String form = "a=1 c=100000 " + body.contentLength().orElseThrow();
        assertEquals(List.of(form, form), received);
    }

    @Test
    void unknownLength_isSentInChunks() throws Exception {
        Content content = Content.stream(() -> new ByteArrayInputStream(new byte[100_000]));
        assertEquals(
                201, send(MultipartBody.builder().file("c", "d", "e/f", content).build(), "/"));
        assertEquals(List.of("c=100000 null"), received);
    }

    @Test
    void redirect_bodyForOneSending_failsWithAdvice() {
        Content content = Content.once(new ByteArrayInputStream(new byte[10]));
        MultipartBody body =
                MultipartBody.builder().file("c", "d", "e/f", content).build();
        IOException e = assertThrows(IOException.class, () -> send(body, "/moved"));
        assertTrue(
                e.toString().contains("part 0 \"c\" can be sent only once")
                        && e.toString().contains("pass a StreamSource"),
                e::toString);
        assertEquals(List.of("c=10 null"), received);
    }
}
