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
 * Brings forms that a filter has refused, ours or one that asked for a token, to the DispatcherServlet, for it alone calls
 * handlers of exceptions and renders their views. In front of all other mappings, so that no controller is reached: the
 * filters that would have guarded it have not been passed.
 */
final class RefusalMapping implements HandlerMapping, Ordered {
    private static final String REFUSAL = RefusalMapping.class.getName();

    /** As Boot calls it. */
    private static final String DISPATCHER_SERVLET = "dispatcherServlet";

    /** {@return whether it is answered} */
    static boolean dispatch(HttpServletRequest request, HttpServletResponse response, MultipartRequestException refusal)
            throws IOException, ServletException {
        RequestDispatcher mvc = request.getServletContext().getNamedDispatcher(DISPATCHER_SERVLET);
        if (mvc == null
                || request.getDispatcherType() != DispatcherType.REQUEST
                || request.isAsyncStarted()
                || HttpMethod.TRACE.matches(request.getMethod())) { // which it answers without looking for handlers
            return false;
        }
        request.setAttribute(REFUSAL, refusal);
        try {
            mvc.forward(request, response);
            return true;
        } catch (ServletException e) {
            if (SluiceMultipartResolver.refusal(e) != refusal) {
                throw e;
            }
            return false; // nobody there took it
        } finally {
            request.removeAttribute(REFUSAL);
        }
    }

    @Override
    public @Nullable HandlerExecutionChain getHandler(HttpServletRequest request) {
        if (request.getAttribute(REFUSAL) instanceof MultipartRequestException refusal
                && request.getDispatcherType() != DispatcherType.ERROR) { // of a handler that left it to the error page
            throw SluiceMultipartResolver.translated(refusal);
        }
        return null;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }
}
