package dev.sluice.samples.spring.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;

class SendWithSpringTest {
    private final List<String> received = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        Forms forms = Forms.open();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String type = exchange.getRequestHeaders().getFirst("Content-Type");
            try (MultipartForm form = forms.read(exchange.getRequestBody(), type)) {
                received.add(form.text("title") + " " + form.file("photo").size() + " "
                        + exchange.getRequestHeaders().getFirst("Content-Length"));
            }
            exchange.sendResponseHeaders(201, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void form_isReceived_withItsLengthIfItIsKnown(boolean known) {
        byte[] photo = new byte[200_000];
        Content content = known ? Content.of(photo) : Content.stream(() -> new ByteArrayInputStream(photo));
        MultipartBody body = MultipartBody.builder()
                .field("title", "Sea")
                .file("photo", "a.jpg", "image/jpeg", content)
                .build();
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        assertEquals(201, SendWithSpring.send(RestClient.create(), uri, body).value());
        assertEquals(
                201,
                SendWithSpring.send(WebClient.create(), uri, body)
                        .block(Duration.ofMinutes(2))
                        .getStatusCode()
                        .value());
        String form = "Sea 200000 " + (known ? body.contentLength().getAsLong() : null);
        assertEquals(List.of(form, form), received);
    }
}
