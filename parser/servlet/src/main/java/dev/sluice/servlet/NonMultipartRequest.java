package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * A request whose body is not multipart, such as JSON. {@code getParts} throws a {@code ServletException}, as the servlet
 * specification requires. Its cause is a {@link MultipartRequestException} with status 415, which the filter sends. Without
 * the filter, containers send 500. All other methods are unchanged.
 */
final class NonMultipartRequest extends HttpServletRequestWrapper {
    private @Nullable MultipartRequestException rejection;

    NonMultipartRequest(HttpServletRequest request) {
        super(request);
    }

    static @Nullable NonMultipartRequest of(ServletRequest request) {
        return wrapper(request, NonMultipartRequest.class);
    }

    /** {@return the wrapper of this type around {@code request}, or null} */
    static <T extends ServletRequestWrapper> @Nullable T wrapper(ServletRequest request, Class<T> type) {
        ServletRequest layer = request;
        while (layer instanceof ServletRequestWrapper wrapper && !type.isInstance(layer)) {
            layer = wrapper.getRequest();
        }
        return type.isInstance(layer) ? type.cast(layer) : null;
    }

    /** {@return the exception for the response, or null if the form was not requested} */
    @Nullable
    MultipartRequestException rejection() {
        return rejection;
    }

    /**
     * Records that the form was requested.
     *
     * @return the exception for the caller
     */
    MultipartException reject() {
        @Nullable String type = getContentType();
        MultipartException.Builder because = MultipartException.because(Reason.UNSUPPORTED_MEDIA_TYPE);
        MultipartException rejected = type == null
                ? because.saying("the request has no Content-Type; multipart/form-data is expected")
                        .build()
                : because.seen(type).build();
        rejection = MultipartRequestException.of(rejected, false);
        return rejected;
    }

    private ServletException noParts() {
        return new ServletException("the request has no parts: " + reject().getMessage(), rejection);
    }

    @Override
    public Collection<Part> getParts() throws ServletException {
        throw noParts();
    }

    @Override
    public Part getPart(String name) throws ServletException {
        throw noParts();
    }
}
