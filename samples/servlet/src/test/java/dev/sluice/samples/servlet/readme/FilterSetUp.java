package dev.sluice.samples.servlet.readme;

import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import java.util.EnumSet;

/** The registration of the filter shown in the guide, embedded in a complete listener. */
final class FilterSetUp implements ServletContextListener {
    @Override
    public void contextInitialized(ServletContextEvent event) {
        ServletContext context = event.getServletContext();
        // @start region="filter"
        FilterRegistration.Dynamic filter = context.addFilter("multipart", SluiceFilter.class);
        filter.setInitParameter("maxBodyBytes", "100MiB");
        filter.setAsyncSupported(true);
        filter.addMappingForUrlPatterns(EnumSet.allOf(DispatcherType.class), false, "/*");
        // @end
    }
}
