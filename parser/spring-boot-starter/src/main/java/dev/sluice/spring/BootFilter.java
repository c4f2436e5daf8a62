package dev.sluice.spring;

import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.util.WebUtils;

/** The filter, but for requests whose parts are there before a body was read: MockMvc makes such ones. */
final class BootFilter implements Filter {
    private static final @Nullable Class<?> MOCK = mock();

    private final SluiceFilter filter;

    BootFilter(SluiceFilter filter) {
        this.filter = filter;
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
            filter.doFilter(request, response, chain);
        }
    }

    @Override
    public void destroy() {
        filter.destroy();
    }
}
