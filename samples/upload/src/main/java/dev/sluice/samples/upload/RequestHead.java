package dev.sluice.samples.upload;

import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.HeadRules;
import dev.sluice.samples.report.PresetName;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import org.jspecify.annotations.Nullable;

/** The checks of a request head that the library does not make. */
final class RequestHead {
    private RequestHead() {}

    /** {@return an error in a request of any kind, or null} */
    static @Nullable ErrorResponse fault(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            Throwable fault = request.decoderResult().cause();
            return fault instanceof TooLongHttpLineException
                    ? ErrorResponse.http(414, "REQUEST_LINE_TOO_LONG", "the request line is too long")
                    : fault instanceof TooLongHttpHeaderException
                            ? ErrorResponse.http(431, "REQUEST_HEADERS_TOO_LARGE", "the header fields are too large")
                            : badRequest("the request is not well-formed HTTP");
        } else if (isHttp11(request)
                && request.headers().getAll(HttpHeaderNames.HOST).size() != 1) {
            return badRequest("the request must have exactly one Host header");
        }
        try {
            QueryStringDecoder uri = new QueryStringDecoder(request.uri());
            uri.path();
            uri.parameters();
            return null;
        } catch (IllegalArgumentException e) {
            return badRequest("the request target has a malformed percent-encoding");
        }
    }

    private static boolean isHttp11(HttpRequest request) {
        return request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) >= 0;
    }

    static ErrorResponse badRequest(String message) {
        return ErrorResponse.http(400, "BAD_REQUEST", message);
    }

    /** {@return an error in a request with a body, or null} */
    static @Nullable ErrorResponse fault(HttpRequest request, @Nullable PresetName preset) {
        HttpHeaders headers = request.headers();
        // An expectation in an HTTP/1.0 request is ignored (RFC 9110 section 10.1.1).
        if (isHttp11(request) && headers.contains(HttpHeaderNames.EXPECT) && !HttpUtil.is100ContinueExpected(request)) {
            return ErrorResponse.http(417, "UNKNOWN_EXPECTATION", "the only supported expectation is 100-continue");
        }
        return HeadRules.fault(
                preset,
                headers.get(HttpHeaderNames.ORIGIN),
                headers.get(HttpHeaderNames.HOST, ""),
                headers.contains(HttpHeaderNames.CONTENT_ENCODING),
                headers.getAll(HttpHeaderNames.CONTENT_TYPE));
    }
}
