package dev.sluice.servlet.container;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.http.HttpServlet;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The description of a web application in the root context of a container. */
final class WebApp {
    /** A servlet. If {@code multipart} is not null, the container parses its forms. */
    record ServletAt(
            String pattern, HttpServlet servlet, @Nullable MultipartConfigElement multipart) {}

    record FilterAt(String name, String pattern, Filter filter, EnumSet<DispatcherType> dispatches) {}

    private final Path directory;
    private final List<ServletAt> servlets = new ArrayList<>();
    private final List<FilterAt> filters = new ArrayList<>();
    private @Nullable String errorPage;
    private boolean largeBodies;

    /**
     * Creates an empty application.
     *
     * @param directory the temporary directory of the container
     */
    WebApp(Path directory) {
        this.directory = directory;
    }

    WebApp servlet(String pattern, HttpServlet servlet) {
        servlets.add(new ServletAt(pattern, servlet, null));
        return this;
    }

    WebApp servlet(String pattern, HttpServlet servlet, MultipartConfigElement multipart) {
        servlets.add(new ServletAt(pattern, servlet, multipart));
        return this;
    }

    WebApp filter(String pattern, Filter filter, DispatcherType... dispatches) {
        EnumSet<DispatcherType> set = EnumSet.of(DispatcherType.REQUEST);
        set.addAll(List.of(dispatches));
        filters.add(new FilterAt("filter" + filters.size(), pattern, filter, set));
        return this;
    }

    WebApp errorPage(String path) {
        this.errorPage = path;
        return this;
    }

    /** Turns off the container's limits on the size of bodies. */
    WebApp largeBodies() {
        this.largeBodies = true;
        return this;
    }

    boolean hasLargeBodies() {
        return largeBodies;
    }

    Path directory() {
        return directory;
    }

    List<ServletAt> servlets() {
        return servlets;
    }

    List<FilterAt> filters() {
        return filters;
    }

    @Nullable
    String errorPage() {
        return errorPage;
    }
}
