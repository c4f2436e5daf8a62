package dev.sluice.samples.upload;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.TestForm;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server with its generated certificate. */
@Timeout(300)
class TlsTest {
    @TempDir
    Path directory;

    static HttpClient client(HttpClient.Version version) throws GeneralSecurityException {
        SSLContext trust = SSLContext.getInstance("TLS");
        trust.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        return HttpClient.newBuilder().sslContext(trust).version(version).build();
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void tls_formsAreStoredAndRejected(HttpClient.Version version) throws Exception {
        HttpClient client = client(version);
        byte[] content = TestForm.noise(600_000, 1);
        try (UploadServer server = UploadServer.start(ServerConfig.of(directory).withTls(true))) {
            assertEquals("https", server.uri().getScheme());
            byte[] good = new TestForm().file("f", "a.bin", content).body();
            byte[] bad = new TestForm().part("Broken: x", new byte[3_000_000]).body();
            for (int i = 0; i < 3; i++) {
                assertEquals(List.of(200, version), post(client, server, good));
                assertEquals(List.of(400, version), post(client, server, bad));
            }
        }
        assertTrue(Files.mismatch(directory.resolve("a.bin"), directory.resolve("a-1.bin")) < 0);
        assertEquals(TestForm.sha256(content), TestForm.sha256(Files.readAllBytes(directory.resolve("a-2.bin"))));
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void head_hasLengthOfPageAndNoBody(HttpClient.Version version) throws Exception {
        HttpClient client = client(version);
        try (UploadServer server = UploadServer.start(ServerConfig.of(directory).withTls(true))) {
            for (String path : List.of("/", "/nothing")) {
                HttpRequest.Builder request =
                        HttpRequest.newBuilder(server.uri().resolve(path));
                HttpResponse<String> get = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
                HttpResponse<String> head = client.send(
                        request.method("HEAD", HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
                assertEquals(version, head.version());
                assertEquals(get.statusCode(), head.statusCode());
                assertEquals(get.body().getBytes(UTF_8).length, length(head));
                assertEquals("", head.body());
            }
        }
    }

    private static long length(HttpResponse<?> response) {
        return response.headers().firstValueAsLong("content-length").orElse(-1);
    }

    private static List<Object> post(HttpClient client, UploadServer server, byte[] body) throws Exception {
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(server.uri().resolve("/upload"))
                        .header("Content-Type", TestForm.CONTENT_TYPE)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertEquals(
                "CN=localhost",
                response.sslSession().orElseThrow().getPeerPrincipal().getName());
        return List.of(response.statusCode(), response.version());
    }
}
