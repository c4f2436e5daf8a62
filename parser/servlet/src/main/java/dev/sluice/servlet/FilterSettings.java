package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Setting;
import dev.sluice.form.FormOptions;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link SluiceFilter}, with the methods that classify requests by them.
 *
 * @param eager whether forms are parsed before the chain is called
 * @param rejectsOther whether multipart bodies that the filter does not parse are rejected
 * @param methods the methods whose forms are parsed
 */
record FilterSettings(
        FormOptions options,
        List<PathOptions> paths,
        @Nullable Path location,
        boolean eager,
        boolean rejectsOther,
        List<String> methods,
        Handler handler) {
    private static final String FORM = "multipart/form-data";

    /** The method of {@code SluiceFilter.RejectionHandler}, without a dependency on that class. */
    @FunctionalInterface
    interface Handler {
        boolean handle(HttpServletRequest request, HttpServletResponse response, MultipartRequestException rejection)
                throws IOException, ServletException;
    }

    FormService newService() {
        FormService service = new FormService(options, paths, location);
        if (!rejectsOther) {
            service.warnOnce("multipart bodies that are not multipart/form-data, and forms with methods other than "
                    + methods
                    + ", are not rejected: for servlets with @MultipartConfig, the container parses them without"
                    + " the limits of SluiceFilter (" + Setting.REFUSE_OTHER_MULTIPART + ")");
        }
        return service;
    }

    /** {@return whether the filter parses the body} */
    boolean isForm(HttpServletRequest request) {
        Object original = request.getAttribute("jakarta.servlet.error.method"); // since Servlet 6.1
        return methods.contains(original != null ? original : request.getMethod())
                && mediaType(request).equals(FORM);
    }

    /**
     * {@return the exception that rejects a multipart body which the filter does not parse, and which the container
     * might parse without limits; null to pass the request on}
     */
    @Nullable
    MultipartRequestException rejection(HttpServletRequest request) {
        if (!rejectsOther
                || request.getDispatcherType() != DispatcherType.REQUEST
                || !isMultipart(request)
                || !hasBody(request)) {
            return null;
        }
        return mediaType(request).equals(FORM)
                ? MultipartRequestException.ofMethod(allowed())
                : MultipartRequestException.of(
                        MultipartException.because(Reason.UNSUPPORTED_MEDIA_TYPE)
                                .build(),
                        false);
    }

    /** {@return the value of the {@code Allow} header} */
    String allowed() {
        return String.join(", ", methods);
    }

    static boolean isMultipart(HttpServletRequest request) {
        return mediaType(request).startsWith("multipart/");
    }

    /** {@return whether there is a body} Some clients send a Content-Type with every GET. */
    private boolean hasBody(HttpServletRequest request) {
        long length = request.getContentLengthLong();
        if (length >= 0) {
            return length > 0;
        } else if (request.getProtocol().startsWith("HTTP/1")) {
            return request.getHeader("Transfer-Encoding") != null;
        }
        return methods.contains(request.getMethod()) || !isKnownToBeEmpty(request);
    }

    /** {@return whether the container already knows that a request without a length has no body} */
    private static boolean isKnownToBeEmpty(HttpServletRequest request) {
        try {
            return request.getInputStream().isFinished();
        } catch (IOException | IllegalStateException e) { // a filter has called getReader
            return false;
        }
    }

    /**
     * {@return the media type in lower case, without parameters} If there are several types, separated by commas, this
     * is the first. The preset decides whether several types are accepted.
     */
    private static String mediaType(HttpServletRequest request) {
        String type = Objects.requireNonNullElse(request.getContentType(), "");
        int end = Math.min((type + ';').indexOf(';'), (type + ',').indexOf(','));
        return type.substring(0, end).strip().toLowerCase(Locale.ROOT);
    }
}
