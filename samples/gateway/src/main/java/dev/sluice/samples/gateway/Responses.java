package dev.sluice.samples.gateway;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** Factory methods for the responses to the client. */
final class Responses {
    private static final String NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";
    private static final String OWN_STYLE =
            "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

    private static final byte[] STYLE = style();

    private Responses() {}

    private static byte[] style() {
        try (InputStream in = Responses.class.getResourceAsStream("page.css")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@return the response to a request that is not a form: the page, its style, or an error} */
    static FullHttpResponse other(HttpRequest request, String method, Supplier<String> page) {
        if (request.decoderResult().isFailure()) {
            return text(400, "the request is malformed HTTP");
        }
        String path = new QueryStringDecoder(request.uri()).rawPath();
        return switch (method + " " + path) {
            case "GET /" -> page("text/html; charset=utf-8", page.get().getBytes(StandardCharsets.UTF_8));
            case "GET /page.css" -> page("text/css; charset=utf-8", STYLE);
            default -> notThis(path);
        };
    }

    /** {@return a response with the status, type and body that the upstream has sent} Other headers are not forwarded. */
    static FullHttpResponse of(UpstreamRequest.Response response) {
        return of(response.status(), response.contentType(), response.body(), NOTHING_RUNS);
    }

    static FullHttpResponse text(int status, String message) {
        return of(status, "text/plain; charset=utf-8", (message + "\n").getBytes(StandardCharsets.UTF_8), NOTHING_RUNS);
    }

    private static FullHttpResponse page(String contentType, byte[] content) {
        return of(200, contentType, content, OWN_STYLE);
    }

    /** {@return the response to an unknown path, or to a method that the path does not support} */
    private static FullHttpResponse notThis(String path) {
        String allowed = switch (path) {
            case "/", "/page.css" -> "GET, HEAD";
            case "/upload" -> "POST";
            default -> "";
        };
        if (allowed.isEmpty()) {
            return text(404, "unknown path: the paths are / and /upload");
        }
        FullHttpResponse response = text(405, "the path does not support this method: use " + allowed);
        response.headers().set(HttpHeaderNames.ALLOW, allowed);
        return response;
    }

    private static FullHttpResponse of(int status, String contentType, byte[] body, String policy) {
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, contentType)
                .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, policy)
                .set("x-content-type-options", "nosniff")
                .set("referrer-policy", "no-referrer");
        return response;
    }
}
