package dev.sluice.spring;

import dev.sluice.servlet.MultipartFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.util.WebUtils;

/** The filter, but for requests whose parts are there before a body was read: MockMvc makes such ones. */
final class BootFilter implements Filter {
    private final MultipartFilter filter;

    BootFilter(MultipartFilter filter) {
        this.filter = filter;
    }

    @Override
    public void init(FilterConfig config) throws ServletException {
        filter.init(config);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (WebUtils.getNativeRequest(request, MultipartHttpServletRequest.class) != null) {
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
