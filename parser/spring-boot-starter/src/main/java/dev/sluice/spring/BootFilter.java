package dev.sluice.spring;

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
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.util.WebUtils;

/**
 * The servlet filter of the starter, a {@link SluiceFilter} with two additions. Requests of MockMvc, and requests that
 * already have their parts, pass through it unchanged. A request that {@link SluiceFilter} rejects before the filter
 * chain still enters the chain, with a {@link DeferredRejection}. Its response then has the headers that the other
 * filters set.
 */
final class BootFilter implements Filter {
    private static final @Nullable Class<?> MOCK_REQUEST = mockRequestType();

    private final SluiceFilter filter;

    BootFilter(SluiceFilter.Builder filter) {
        this.filter = filter.rejectionHandler(BootFilter::respond).build();
    }

    private static @Nullable Class<?> mockRequestType() {
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
        boolean first = request.getDispatcherType() == DispatcherType.REQUEST;
        if (isMock(request) || first && WebUtils.getNativeRequest(request, MultipartHttpServletRequest.class) != null) {
            chain.doFilter(request, response);
        } else {
            filter.doFilter(request, response, first ? DeferredRejection.attach(request, chain) : chain);
        }
    }

    private static boolean isMock(ServletRequest request) {
        return MOCK_REQUEST != null && WebUtils.getNativeRequest(request, MOCK_REQUEST) != null;
    }

    private static boolean respond(
            HttpServletRequest request, HttpServletResponse response, MultipartRequestException rejection)
            throws IOException, ServletException {
        DeferredRejection deferred = DeferredRejection.of(request);
        if (deferred == null || !deferred.defer(request, rejection)) {
            return RejectionMapping.dispatch(request, response, rejection);
        }
        try {
            deferred.doFilter(request, response);
            return true;
        } catch (IOException | ServletException | RuntimeException e) {
            if (MultipartRequestException.in(e, rejection) != rejection) {
                throw e;
            }
            return !response.isCommitted() && RejectionMapping.dispatch(request, response, rejection);
        }
    }

    @Override
    public void destroy() {
        filter.destroy();
    }
}
