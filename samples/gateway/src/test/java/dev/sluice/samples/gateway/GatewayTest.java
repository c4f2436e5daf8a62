package dev.sluice.samples.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GatewayTest extends ForwardingContract {
    private static final int MAX_FIELD = 1 << 16;

    private Gateway gateway;

    /** The gateway removes an input for which no file was chosen. */
    @Override
    protected boolean forwardsEmptyInputs() {
        return false;
    }

    @Override
    protected URI start(URI upstream) throws Exception {
        Rules rules =
                new Rules(Set.of("title"), Set.of("photo"), Set.of("csrf"), Set.of("image/png"), MAX_FIELD, 1 << 30);
        gateway = Gateway.start(new Gateway.Config("127.0.0.1", 0, false, upstream, rules, 1 << 30, MAX_WAIT));
        return gateway.uri().resolve("upload");
    }

    @Override
    protected void stop() throws Exception {
        gateway.close();
    }

    @Override
    protected long usedMemory() {
        return gateway.usedMemory();
    }

    @Test
    void formAgainstTheRules_getsNoCloseDelimiter() throws Exception {
        try (Upstream upstream = new Upstream(Upstream.Behaviour.ACCEPT)) {
            startBefore(upstream);
            Map<TestForm, Integer> statuses = Map.of(
                    form(1000).field("role", "admin"), 400,
                    form(1000).file("script", "a.png", new byte[9]), 400,
                    form(1000).file("photo", "a.png", "<html>".getBytes(UTF_8)), 415,
                    form(1000).field("title", "a".repeat(MAX_FIELD + 1)), 413);
            for (Map.Entry<TestForm, Integer> form : statuses.entrySet()) {
                assertEquals(form.getValue(), send(form.getKey().body()));
                assertFalse(upstream.request().complete());
            }
        }
    }

    @Test
    void fileNames_unsafe_areReplaced() throws Exception {
        try (Upstream upstream = new Upstream(Upstream.Behaviour.ACCEPT)) {
            startBefore(upstream);
            byte[] png = Arrays.copyOfRange(form(64).open(), form(64).open().length - 66, form(64).open().length - 2);
            TestForm form = new TestForm().file("photo", "../../a.png", png).file("photo", "", new byte[0]);
            assertEquals(200, send(form.body()));
            String body = new String(upstream.request().body(), ISO_8859_1);
            assertTrue(body.contains("filename=\"a.png\"\r\nContent-Type: image/png\r\n"), body);
            assertFalse(body.contains("filename=\"\""), body);
        }
    }

    @Test
    void interimResponses_ofTheUpstream_areIgnored() throws Exception {
        try (Upstream upstream = new Upstream(Upstream.Behaviour.HINT)) {
            startBefore(upstream);
            assertEquals(200, send(form(1000).body()));
            assertTrue(upstream.request().complete());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BABBLE", "LONG_HINT", "SWITCH"})
    void upstream_withoutResponse_is502(Upstream.Behaviour behaviour) throws Exception {
        try (Upstream upstream = new Upstream(behaviour)) {
            startBefore(upstream);
            assertEquals(502, send(form(1000).body()));
        }
    }

    @Test
    void otherRequest_withMalformedLength_is400() throws Exception {
        try (Upstream upstream = new Upstream(Upstream.Behaviour.ACCEPT)) {
            startBefore(upstream);
            try (RawHttp client = connect()) {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n");
                assertEquals(400, client.response().status());
            }
        }
    }

    @Test
    void otherRequests_areAnsweredByPathAndMethod() throws Exception {
        try (Upstream upstream = new Upstream(Upstream.Behaviour.ACCEPT)) {
            startBefore(upstream);
            assertOther("GET /?a=b", 200, null);
            assertOther("GET /page.css", 200, null);
            assertOther("PUT /", 405, "GET, HEAD");
            assertOther("GET /upload", 405, "POST");
            assertOther("PUT /upload?a=b", 405, "POST");
            assertOther("POST /other", 404, null);
            try (RawHttp client = connect()) {
                client.send(TestForm.request("/upload?a=b", form(1000).body()));
                assertEquals(200, client.response().status());
            }
        }
    }

    private void assertOther(String request, int status, String allow) throws IOException {
        try (RawHttp client = connect()) {
            RawHttp.Response response =
                    client.send(request + " HTTP/1.1\r\nHost: x\r\n\r\n").response();
            assertEquals(status, response.status(), request);
            assertEquals(allow, response.headers().get("allow"), request);
        }
    }

    @Test
    void page_isServedOverTls() throws Exception {
        SSLContext trust = SSLContext.getInstance("TLS");
        trust.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        HttpClient client = HttpClient.newBuilder().sslContext(trust).build();
        try (Gateway server = Gateway.start(config("127.0.0.1", true))) {
            assertEquals("https", server.uri().getScheme());
            HttpResponse<Void> page =
                    client.send(HttpRequest.newBuilder(server.uri()).build(), BodyHandlers.discarding());
            assertEquals(200, page.statusCode());
        }
    }

    private static Gateway.Config config(String host, boolean tls) {
        Rules rules = new Rules(Set.of(), Set.of(), Set.of(), Set.of(), 0, 0);
        return new Gateway.Config(host, 0, tls, URI.create("http://localhost/"), rules, 0, MAX_WAIT);
    }

    @Test
    void address_onAllInterfaces_isOneThatABrowserCanOpen() throws Exception {
        try (Gateway other = Gateway.start(config("0.0.0.0", false))) {
            assertEquals("localhost", other.uri().getHost());
        }
    }

    @Test
    void unknownHost_isNamed() {
        IOException thrown = assertThrows(IOException.class, () -> Gateway.start(config("nosuch.invalid", false)));
        assertEquals("cannot listen on nosuch.invalid:0: unknown host", thrown.getMessage());
    }

    @Test
    void page_escapesTheTextOfForms() throws Exception {
        try (Upstream upstream = new Upstream(Upstream.Behaviour.ACCEPT)) {
            startBefore(upstream);
            assertEquals(400, send(form(1000).field("<script>", "1").body()));
            try (RawHttp client = connect()) {
                RawHttp.Response page =
                        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").response();
                assertEquals(200, page.status());
                for (String shown :
                        List.of("forwarded as image/png", "removed", "rejected: unknown field", "&lt;script&gt;")) {
                    assertTrue(page.body().contains(shown), page.body());
                }
                assertFalse(page.body().contains("<script>"), page.body());
            }
        }
    }
}
