package dev.sluice.samples.upload;

import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.Json;
import dev.sluice.samples.report.Page;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;

/** Factory methods for the server's HTTP responses. The caller owns each response. */
final class Responses {
    private static final String NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";

    private Responses() {}

    /** {@return the response to a request that is not a form} */
    static FullHttpResponse other(HttpRequest request, String method, ServerMetrics metrics, Page page) {
        ErrorResponse fault = RequestHead.fault(request);
        if (fault != null) {
            return rejection(metrics, fault, fault.asResponse());
        }
        String path = new QueryStringDecoder(request.uri()).path();
        return switch (method + " " + path) {
            case "GET /" -> page(page);
            case "GET /metrics" -> metrics(metrics);
            default -> notThis(path);
        };
    }

    private static FullHttpResponse page(Page page) {
        FullHttpResponse response = of(200, "text/html; charset=utf-8", page.html());
        response.headers().set(HttpHeaderNames.CONTENT_SECURITY_POLICY, page.contentSecurityPolicy());
        return response;
    }

    private static FullHttpResponse metrics(ServerMetrics metrics) {
        byte[] text = metrics.scrape().getBytes(StandardCharsets.UTF_8);
        return of(200, "text/plain; version=0.0.4; charset=utf-8", text);
    }

    static FullHttpResponse json(int status, Object content) {
        return of(status, "application/json", Json.bytes(content));
    }

    /** {@return a response after which the connection is closed} */
    static FullHttpResponse rejection(ServerMetrics metrics, ErrorResponse error, Object content) {
        metrics.rejected(error);
        FullHttpResponse response = json(error.status(), content);
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        return response;
    }

    /** {@return the response to an unknown path, or to a method that the path does not support} */
    private static FullHttpResponse notThis(String path) {
        String allowed = switch (path) {
            case "/", "/metrics" -> "GET, HEAD";
            case "/upload", "/inspect" -> "POST";
            default -> "";
        };
        ErrorResponse error = allowed.isEmpty()
                ? ErrorResponse.http(404, "NOT_FOUND", "unknown path: the paths are /, /upload, /inspect and /metrics")
                : ErrorResponse.http(
                        405, "METHOD_NOT_ALLOWED", "the path does not support this method: use " + allowed);
        FullHttpResponse response = json(error.status(), error.asResponse());
        if (!allowed.isEmpty()) {
            response.headers().set(HttpHeaderNames.ALLOW, allowed);
        }
        return response;
    }

    private static FullHttpResponse of(int status, String contentType, byte[] body) {
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE)
                .set(HttpHeaderNames.CONTENT_TYPE, contentType)
                .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
                .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, NOTHING_RUNS)
                .set("x-content-type-options", "nosniff")
                .set("referrer-policy", "no-referrer");
        return response;
    }
}
