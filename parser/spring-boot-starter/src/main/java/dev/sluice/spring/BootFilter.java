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
 * The filter of an application. Requests whose parts exist before a body was read pass it: MockMvc makes them. A request that
 * {@link SluiceFilter} refuses in front of the chain enters the chain nevertheless, with a {@link Deferral}, so that its
 * answer has the headers of the filters in the chain.
 */
final class BootFilter implements Filter {
    private static final @Nullable Class<?> MOCK = mock();

    private final SluiceFilter filter;

    BootFilter(SluiceFilter.Builder filter) {
        this.filter = filter.refusalHandler(BootFilter::answer).build();
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
        boolean first = request.getDispatcherType() == DispatcherType.REQUEST;
        if (isMock(request) || first && WebUtils.getNativeRequest(request, MultipartHttpServletRequest.class) != null) {
            chain.doFilter(request, response);
        } else {
            filter.doFilter(request, response, first ? Deferral.attach(request, chain) : chain);
        }
    }

    private static boolean isMock(ServletRequest request) {
        return MOCK != null && WebUtils.getNativeRequest(request, MOCK) != null;
    }

    /** {@return whether the refusal has been answered} */
    private static boolean answer(
            HttpServletRequest request, HttpServletResponse response, MultipartRequestException refusal)
            throws IOException, ServletException {
        Deferral deferral = Deferral.of(request);
        if (deferral == null || !deferral.keeps(request, refusal)) {
            return RefusalMapping.dispatch(request, response, refusal);
        }
        try {
            deferral.doFilter(request, response);
            return true;
        } catch (ServletException | RuntimeException e) {
            if (SluiceMultipartResolver.refusal(e) != refusal) {
                throw e;
            }
            return !response.isCommitted() && RefusalMapping.dispatch(request, response, refusal);
        }
    }

    @Override
    public void destroy() {
        filter.destroy();
    }
}
