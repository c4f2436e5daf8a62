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
 * A mapping that throws a refusal inside the DispatcherServlet, because only the DispatcherServlet calls exception
 * handlers. If {@link BootFilter} or another filter, such as one that reads a CSRF token, refuses a form, the request
 * is forwarded to the DispatcherServlet. This mapping comes before all others, so that no controller is called: some of
 * the filters that protect controllers have not run.
 */
final class RefusalMapping implements HandlerMapping, Ordered {
    private static final String REFUSAL = RefusalMapping.class.getName();

    /** The name that Boot gives the servlet. */
    private static final String DISPATCHER_SERVLET = "dispatcherServlet";

    /** Forwards to the DispatcherServlet. {@return whether it has answered the refusal} */
    static boolean dispatch(HttpServletRequest request, HttpServletResponse response, MultipartRequestException refusal)
            throws IOException, ServletException {
        RequestDispatcher mvc = request.getServletContext().getNamedDispatcher(DISPATCHER_SERVLET);
        if (mvc == null
                || request.getDispatcherType() != DispatcherType.REQUEST
                || request.isAsyncStarted()
                || HttpMethod.TRACE.matches(
                        request.getMethod())) { // the DispatcherServlet answers TRACE without a handler
            return false;
        }
        request.setAttribute(REFUSAL, refusal);
        try {
            mvc.forward(request, response);
            return true;
        } catch (ServletException e) {
            if (MultipartRequestException.in(e, null) != refusal) {
                throw e;
            }
            return false; // no exception handler has answered it
        } finally {
            request.removeAttribute(REFUSAL);
        }
    }

    @Override
    public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
        if (request.getAttribute(REFUSAL) instanceof MultipartRequestException refusal
                && request.getDispatcherType()
                        != DispatcherType.ERROR) { // an exception handler may have called sendError
            throw SluiceMultipartResolver.toSpringException(refusal);
        }
        return null;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
