package dev.sluice.spring;

import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;

/**
 * A mapping that throws a rejection inside the DispatcherServlet, because only the DispatcherServlet calls exception
 * handlers. If {@link BootFilter} or another filter, such as one that reads a CSRF token, rejects a form, the request
 * is forwarded to the DispatcherServlet. This mapping comes before all other mappings, so that no controller is called:
 * some of the filters that protect controllers have not run.
 */
final class RejectionMapping implements HandlerMapping, Ordered {
    private static final String REJECTION = RejectionMapping.class.getName();

    /** The name that Boot gives the servlet. */
    private static final String DISPATCHER_SERVLET = "dispatcherServlet";

    /** Forwards to the DispatcherServlet. Returns whether an exception handler has handled the rejection. */
    static boolean dispatch(
            HttpServletRequest request, HttpServletResponse response, MultipartRequestException rejection)
            throws IOException, ServletException {
        RequestDispatcher mvc = request.getServletContext().getNamedDispatcher(DISPATCHER_SERVLET);
        if (mvc == null
                || request.getDispatcherType() != DispatcherType.REQUEST
                || request.isAsyncStarted()
                // The DispatcherServlet handles TRACE without a handler.
                || HttpMethod.TRACE.matches(request.getMethod())) {
            return false;
        }
        request.setAttribute(REJECTION, rejection);
        try {
            mvc.forward(request, response);
            return true;
        } catch (ServletException e) {
            if (MultipartRequestException.in(e, null) != rejection) {
                throw e;
            }
            return false; // no exception handler has handled it
        } finally {
            request.removeAttribute(REJECTION);
        }
    }

    @Override
    public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
        if (request.getAttribute(REJECTION) instanceof MultipartRequestException rejection
                // An exception handler may have called sendError.
                && request.getDispatcherType() != DispatcherType.ERROR) {
            request.removeAttribute(REJECTION); // an exception handler may forward the request
            throw SluiceMultipartResolver.toSpringException(rejection);
        }
        return null;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
