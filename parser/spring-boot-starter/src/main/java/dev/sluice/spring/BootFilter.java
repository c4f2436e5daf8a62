package dev.sluice.spring;

import dev.sluice.MultipartException;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.util.WebUtils;

/**
 * The filter, but for requests whose parts are there before a body was read: MockMvc makes such ones. What other filters
 * find refused, as Spring Security does when it looks for a token, goes to the handlers of exceptions too.
 */
final class BootFilter implements Filter {
    private static final @Nullable Class<?> MOCK = mock();

    private final SluiceFilter filter;
    private final Supplier<@Nullable HandlerExceptionResolver> handlers;

    /** @param handlers asked for when they are needed: filters are made before them */
    BootFilter(SluiceFilter filter, Supplier<@Nullable HandlerExceptionResolver> handlers) {
        this.filter = filter;
        this.handlers = handlers;
    }

    private static @Nullable Class<?> mock() {
        String name = "org.springframework.mock.web.MockHttpServletRequest";
        ClassLoader loader = BootFilter.class.getClassLoader();
        return ClassUtils.isPresent(name, loader) ? ClassUtils.resolveClassName(name, loader) : null;
    }

    @Override
    public void init(FilterConfig config) throws ServletException {
        filter.init(config);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (WebUtils.getNativeRequest(request, MultipartHttpServletRequest.class) != null
                || MOCK != null && WebUtils.getNativeRequest(request, MOCK) != null) {
            chain.doFilter(request, response);
        } else {
            filter.doFilter(request, response, (seen, answer) -> pass(seen, answer, chain));
        }
    }

    private void pass(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        try {
            chain.doFilter(request, response);
        } catch (IOException | ServletException | RuntimeException e) {
            if (!handled(e, (HttpServletRequest) request, (HttpServletResponse) response)) {
                throw e;
            }
        }
    }

    /** {@return whether a handler has written an answer; views are rendered by a DispatcherServlet only} */
    private boolean handled(Exception failure, HttpServletRequest request, HttpServletResponse response) {
        MultipartRequestException refused = SluiceMultipartResolver.refusal(failure);
        if (refused == null
                || !(refused.getCause() instanceof MultipartException)
                || request.getDispatcherType() != DispatcherType.REQUEST
                || request.isAsyncStarted()
                || response.isCommitted()) {
            return false;
        }
        HandlerExceptionResolver resolver = handlers.get();
        ModelAndView answered = resolver == null
                ? null
                : resolver.resolveException(request, response, null, SluiceMultipartResolver.translated(refused));
        return answered != null && answered.isEmpty();
    }

    @Override
    public void destroy() {
        filter.destroy();
    }
}
