package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.apache.hc.client5.http.async.methods.SimpleHttpRequest;
import org.apache.hc.client5.http.async.methods.SimpleHttpResponse;
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient;
import org.apache.hc.client5.http.impl.async.HttpAsyncClients;
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.ClientTlsStrategyBuilder;
import org.apache.hc.core5.http.HttpVersion;
import org.apache.hc.core5.http2.HttpVersionPolicy;

/**
 * A client that sends given bodies unchanged, one after the other, over a chosen protocol. It does not verify the
 * server's name.
 */
@FunctionalInterface
public interface BodyClient {
    /**
     * A body to send.
     *
     * @param path including the query
     * @param type the whole {@code Content-Type}
     * @param file the file with the body
     */
    record Body(String path, String type, Path file) {
        byte[] bytes() throws IOException {
            return Files.readAllBytes(file);
        }
    }

    /**
     * {@return the answers, in order}
     *
     * @param root the root of an http server, or of an https server, which supports both protocols
     * @param http2 whether to use HTTP/2 instead of HTTP/1.1
     */
    List<Answer> send(URI root, boolean http2, List<Body> bodies) throws Exception;

    /** The default implementation, one request per body. */
    @FunctionalInterface
    interface ToAnswer {
        Answer send(URI target, String type, byte[] body) throws Exception;
    }

    private static List<Answer> each(URI root, List<Body> bodies, ToAnswer client) throws Exception {
        List<Answer> answers = new ArrayList<>();
        for (Body body : bodies) {
            answers.add(client.send(root.resolve(body.path()), body.type(), body.bytes()));
        }
        return answers;
    }

    private static SSLContext trustful() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        return context;
    }

    static BodyClient curl() {
        return (root, http2, bodies) -> {
            try (Scratch scratch = Scratch.create()) {
                List<Path> outs = new ArrayList<>();
                List<String> lines = new ArrayList<>();
                for (Body body : bodies) {
                    Path out = scratch.file(new byte[0]);
                    outs.add(out);
                    lines.addAll(List.of("next", "silent", "show-error", "insecure", "noproxy = \"*\""));
                    lines.add(http2 ? "http2" : "http1.1");
                    lines.add(CurlClient.option("url", root.resolve(body.path()).toString()));
                    lines.add(CurlClient.option("header", "Content-Type: " + body.type()));
                    lines.add(CurlClient.option("data-binary", "@" + body.file()));
                    lines.add(CurlClient.option("output", out.toString()));
                    lines.add(CurlClient.option("write-out", "%{http_version} %{http_code}\n"));
                }
                Path configuration = scratch.file(
                        String.join("\n", lines.subList(1, lines.size())).getBytes(StandardCharsets.UTF_8));
                Program.Run run = new CurlClient().program().run(CurlClient.command(configuration), Map.of());
                List<String> reported = run.out().lines().toList();
                assertEquals(bodies.size(), reported.size(), run::err);
                List<Answer> answers = new ArrayList<>();
                for (int i = 0; i < outs.size(); i++) {
                    String[] words = reported.get(i).split(" ");
                    assertEquals(http2 ? "2" : "1.1", words[0]);
                    answers.add(new Answer(Integer.parseInt(words[1]), Files.readString(outs.get(i))));
                }
                return answers;
            }
        };
    }

    static BodyClient node(Program node) {
        return (root, http2, bodies) -> {
            try (Scratch scratch = Scratch.create()) {
                ObjectNode job = Answer.JSON.createObjectNode();
                job.put("root", root.toString()).put("http2", http2);
                ArrayNode list = job.putArray("bodies");
                for (Body body : bodies) {
                    list.addObject()
                            .put("path", body.path())
                            .put("type", body.type())
                            .put("file", body.file().toString());
                }
                Path file = scratch.file(Answer.JSON.writeValueAsBytes(job));
                List<String> arguments = List.of(ScriptClient.script("node/bodies.mjs"), file.toString());
                Program.Run run = node.run(arguments, Map.of("NODE_TLS_REJECT_UNAUTHORIZED", "0"));
                assertEquals(0, run.exitCode(), run::err);
                List<Answer> answers = new ArrayList<>();
                for (JsonNode answer : Answer.JSON.readTree(run.out())) {
                    answers.add(new Answer(
                            answer.path("status").asInt(), answer.path("body").asText()));
                }
                return answers;
            }
        };
    }

    static BodyClient jdk() {
        return (root, http2, bodies) -> {
            HttpClient.Version version = http2 ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1;
            HttpClient client = HttpClient.newBuilder()
                    .version(version)
                    .sslContext(trustful())
                    .build();
            return each(root, bodies, (target, type, body) -> {
                HttpResponse<String> response = client.send(
                        JavaHttpClient.request(target, type, BodyPublishers.ofByteArray(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
                assertEquals(version, response.version());
                return new Answer(response.statusCode(), response.body());
            });
        };
    }

    static BodyClient okHttp() {
        return (root, http2, bodies) -> {
            TrustManager anybody = InsecureTrustManagerFactory.INSTANCE.getTrustManagers()[0];
            OkHttpClient client = new OkHttpClient.Builder()
                    .protocols(http2 ? List.of(Protocol.HTTP_2, Protocol.HTTP_1_1) : List.of(Protocol.HTTP_1_1))
                    .sslSocketFactory(trustful().getSocketFactory(), (X509TrustManager) anybody)
                    .build();
            return each(root, bodies, (target, type, body) -> {
                Request request = new Request.Builder()
                        .url(target.toString())
                        .header("Content-Type", type)
                        .post(RequestBody.create(body, null))
                        .build();
                try (Response response = client.newCall(request).execute()) {
                    assertEquals(http2 ? Protocol.HTTP_2 : Protocol.HTTP_1_1, response.protocol());
                    return new Answer(response.code(), response.body().string());
                }
            });
        };
    }

    static BodyClient apache() {
        return (root, http2, bodies) -> {
            HttpVersionPolicy policy = http2 ? HttpVersionPolicy.FORCE_HTTP_2 : HttpVersionPolicy.FORCE_HTTP_1;
            try (CloseableHttpAsyncClient client = HttpAsyncClients.custom()
                    .setConnectionManager(PoolingAsyncClientConnectionManagerBuilder.create()
                            .setTlsStrategy(ClientTlsStrategyBuilder.create()
                                    .setSslContext(trustful())
                                    .buildAsync())
                            .setDefaultTlsConfig(
                                    TlsConfig.custom().setVersionPolicy(policy).build())
                            .build())
                    .build()) {
                client.start();
                return each(root, bodies, (target, type, body) -> {
                    SimpleHttpRequest request = SimpleRequestBuilder.post(target)
                            .setHeader("Content-Type", type)
                            .setBody(body, null)
                            .build();
                    SimpleHttpResponse response = client.execute(request, null).get(60, TimeUnit.SECONDS);
                    assertEquals(http2 ? HttpVersion.HTTP_2 : HttpVersion.HTTP_1_1, response.getVersion());
                    String text = new String(response.getBodyBytes(), StandardCharsets.UTF_8);
                    return new Answer(response.getCode(), text);
                });
            }
        };
    }

    /** Chromium uses HTTP/2 for every connection with TLS. */
    static BodyClient chromium(Browser browser) {
        return (root, http2, bodies) -> {
            List<List<String>> all = new ArrayList<>();
            for (Body body : bodies) {
                all.add(List.of(body.path(), body.type(), Base64.getEncoder().encodeToString(body.bytes())));
            }
            browser.driver().get(root.toString());
            List<?> result = browser.runForList("""
                    performance.setResourceTimingBufferSize(arguments[0].length + 1);
                    const send = async ([path, type, base64]) => {
                      const body = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
                      const answer = await fetch(path, {method: 'POST', headers: {'Content-Type': type}, body});
                      return [answer.status, await answer.text()];
                    };
                    return (async () => {
                      const answers = [];
                      for (const body of arguments[0]) answers.push(await send(body));
                      const last = performance.getEntriesByType('resource').pop();
                      return [last.nextHopProtocol, answers];
                    })();
                    """, all);
            assertEquals(http2 ? "h2" : "http/1.1", result.get(0));
            return ((List<?>) result.get(1))
                    .stream()
                            .map(answer -> (List<?>) answer)
                            .map(answer -> new Answer(((Number) answer.get(0)).intValue(), (String) answer.get(1)))
                            .toList();
        };
    }
}
