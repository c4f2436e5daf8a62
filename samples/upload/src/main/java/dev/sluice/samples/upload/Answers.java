package dev.sluice.samples.upload;

import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.Json;
import dev.sluice.samples.report.Page;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;

/** The HTTP answers of the server. Those who get one own it. */
final class Answers {
    private static final String NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";

    private Answers() {}

    static FullHttpResponse proceed() {
        return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER);
    }

    static FullHttpResponse page(Page page) {
        FullHttpResponse response = of(HttpResponseStatus.OK, "text/html; charset=utf-8", page.html());
        response.headers().set(HttpHeaderNames.CONTENT_SECURITY_POLICY, page.contentSecurityPolicy());
        return response;
    }

    static FullHttpResponse json(int status, Object answer) {
        return of(HttpResponseStatus.valueOf(status), "application/json", Json.bytes(answer));
    }

    static FullHttpResponse error(ErrorAnswer error) {
        return json(error.status(), error.asAnswer());
    }

    static FullHttpResponse notFound() {
        return error(ErrorAnswer.http(
                HttpResponseStatus.NOT_FOUND.code(), "NOT_FOUND", "there is only /, /upload, /inspect and /metrics"));
    }

    static FullHttpResponse methodNotAllowed(String allowed) {
        FullHttpResponse response = error(ErrorAnswer.http(
                HttpResponseStatus.METHOD_NOT_ALLOWED.code(), "METHOD_NOT_ALLOWED", "this takes " + allowed + " only"));
        response.headers().set(HttpHeaderNames.ALLOW, allowed);
        return response;
    }

    static FullHttpResponse of(HttpResponseStatus status, String contentType, byte[] body) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, contentType)
                .set(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
                .set(HttpHeaderNames.CONTENT_SECURITY_POLICY, NOTHING_RUNS)
                .set("x-content-type-options", "nosniff")
                .set("referrer-policy", "no-referrer");
        return response;
    }

    /** {@return what is told to a peer that does not speak HTTP} */
    static ErrorAnswer notHttp(Throwable fault) {
        if (fault instanceof TooLongHttpLineException) {
            return ErrorAnswer.http(
                    HttpResponseStatus.REQUEST_URI_TOO_LONG.code(),
                    "REQUEST_LINE_TOO_LONG",
                    "the request line is too long");
        }
        if (fault instanceof TooLongHttpHeaderException) {
            return ErrorAnswer.http(
                    HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE.code(),
                    "REQUEST_HEADERS_TOO_LARGE",
                    "the header fields of the request are too large");
        }
        return ErrorAnswer.http(
                HttpResponseStatus.BAD_REQUEST.code(), "BAD_REQUEST", "the request is not well-formed HTTP");
    }
}
