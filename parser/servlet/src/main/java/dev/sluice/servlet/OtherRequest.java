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
 * A request whose body is not multipart: JSON, say. {@code getParts} throws a {@code ServletException}, as the servlet
 * specification says. Its cause is a refusal with 415, which the filter answers; containers answer with 500. Everything
 * else is the container's.
 */
final class OtherRequest extends HttpServletRequestWrapper {
    private @Nullable MultipartRequestException refusal;

    OtherRequest(HttpServletRequest request) {
        super(request);
    }

    /** {@return the request of this type among the wrappers of {@code request}, or null} */
    static @Nullable OtherRequest of(ServletRequest request) {
        ServletRequest layer = request;
        while (layer instanceof ServletRequestWrapper wrapper) {
            if (layer instanceof OtherRequest found) {
                return found;
            }
            layer = wrapper.getRequest();
        }
        return null;
    }

    /** {@return the exception that callers were given, or null if none has asked for a form} */
    @Nullable
    MultipartRequestException refusal() {
        return refusal;
    }

    /** {@return the exception for callers that want a form} */
    MultipartException refused() {
        @Nullable String type = getContentType();
        MultipartException.Builder because = MultipartException.because(Reason.UNSUPPORTED_MEDIA_TYPE);
        MultipartException refused = type == null
                ? because.saying("the request has no Content-Type; multipart/form-data is expected")
                        .build()
                : because.seen(type).build();
        refusal = MultipartRequestException.of(refused, false);
        return refused;
    }

    private ServletException noParts() {
        return new ServletException("the request has no parts: " + refused().getMessage(), refusal);
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
