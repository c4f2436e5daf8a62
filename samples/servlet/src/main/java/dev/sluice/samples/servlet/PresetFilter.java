package dev.sluice.samples.servlet;

import dev.sluice.samples.report.PresetName;
import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;

/** A filter with one multipart filter per preset. An application with one preset uses the multipart filter directly. */
final class PresetFilter implements Filter {
    private final Map<PresetName, SluiceFilter> filters;

    PresetFilter(Map<PresetName, SluiceFilter> filters) {
        this.filters = Map.copyOf(filters);
    }

    @Override
    public void init(FilterConfig config) throws ServletException {
        for (SluiceFilter filter : filters.values()) {
            filter.init(config);
        }
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Objects.requireNonNull(filters.get(RequestHead.preset(request))).doFilter(request, response, chain);
    }

    @Override
    public void destroy() {
        filters.values().forEach(SluiceFilter::destroy);
    }
}
