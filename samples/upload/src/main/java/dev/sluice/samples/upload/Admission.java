package dev.sluice.samples.upload;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.Preset;
import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.PresetName;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;

/**
 * What the head of a request with a body says of that body: seen before a single byte of it, and before a client that
 * expects {@code 100 Continue} sends one.
 */
record Admission(Boundary boundary, Preset preset) {
    /** The request is refused for its head alone. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient ErrorAnswer error;

        Refused(ErrorAnswer error) {
            super(error.message());
            this.error = error;
        }

        Refused(HttpResponseStatus status, String reason, String message) {
            this(ErrorAnswer.http(status.code(), reason, message));
        }

        ErrorAnswer error() {
            return error;
        }
    }

    /**
     * Checks the head of a request.
     *
     * @param presets the values of {@code preset} in the query
     * @param formOnly whether only {@code multipart/form-data} will do
     */
    static Admission of(HttpRequest request, List<String> presets, boolean formOnly, long maxBodyBytes) throws Refused {
        Preset preset = preset(presets);
        checkHead(request);
        Boundary boundary = boundary(request.headers(), preset, formOnly);
        long contentLength = HttpUtil.getContentLength(request, 0L);
        if (contentLength > maxBodyBytes) {
            throw new Refused(ErrorAnswer.announcedTooLarge(contentLength, maxBodyBytes));
        }
        return new Admission(boundary, preset);
    }

    private static Preset preset(List<String> given) throws Refused {
        if (given.isEmpty()) {
            return Preset.STANDARD;
        }
        for (PresetName name : PresetName.values()) {
            if (given.size() == 1 && name.name().equals(given.get(0))) {
                return name.preset();
            }
        }
        throw new Refused(
                HttpResponseStatus.BAD_REQUEST, "UNKNOWN_PRESET", "preset has to be standard, strict or compatible");
    }

    private static void checkHead(HttpRequest request) throws Refused {
        HttpHeaders headers = request.headers();
        String origin = headers.get(HttpHeaderNames.ORIGIN);
        if (origin != null && !isSameOrigin(origin, headers.get(HttpHeaderNames.HOST, ""))) {
            throw new Refused(
                    HttpResponseStatus.FORBIDDEN, "CROSS_ORIGIN", "pages of other origins may not upload here");
        }
        // In an HTTP/1.0 request an expectation is ignored (RFC 9110 section 10.1.1).
        if (request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) >= 0
                && headers.contains(HttpHeaderNames.EXPECT)
                && !HttpUtil.is100ContinueExpected(request)) {
            throw new Refused(
                    HttpResponseStatus.EXPECTATION_FAILED, "UNKNOWN_EXPECTATION", "only 100-continue can be expected");
        }
        if (headers.contains(HttpHeaderNames.CONTENT_ENCODING)) {
            throw new Refused(
                    HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
                    "CONTENT_ENCODING",
                    "a body with a Content-Encoding is not taken");
        }
        if (headers.getAll(HttpHeaderNames.CONTENT_TYPE).size() > 1) {
            throw new Refused(
                    HttpResponseStatus.BAD_REQUEST, "DUPLICATE_CONTENT_TYPE", "there is more than one Content-Type");
        }
    }

    /** Any page of the web can make a browser send a form to this server; only its own page may. */
    private static boolean isSameOrigin(String origin, String host) {
        return origin.equalsIgnoreCase("http://" + host) || origin.equalsIgnoreCase("https://" + host);
    }

    private static Boundary boundary(HttpHeaders headers, Preset preset, boolean formOnly) throws Refused {
        Boundary boundary;
        try {
            boundary = Boundary.from(headers.get(HttpHeaderNames.CONTENT_TYPE), preset);
        } catch (MultipartException e) {
            throw new Refused(ErrorAnswer.of(e));
        }
        if (formOnly && !boundary.isFormData()) {
            throw new Refused(new ErrorAnswer(
                    415,
                    MultipartException.Reason.UNSUPPORTED_MEDIA_TYPE.name(),
                    MultipartException.Kind.MALFORMED.name(),
                    -1,
                    -1,
                    "an upload has to be multipart/form-data, not another multipart type"));
        }
        return boundary;
    }
}
