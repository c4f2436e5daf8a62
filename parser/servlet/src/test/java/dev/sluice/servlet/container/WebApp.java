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

/** What a container is started with: a web application in its root context. */
final class WebApp {
    /** A servlet; with {@code multipart}, the container parses. */
    record ServletAt(
            String pattern, HttpServlet servlet, @Nullable MultipartConfigElement multipart) {}

    record FilterAt(String name, String pattern, Filter filter, EnumSet<DispatcherType> dispatches) {}

    private final Path directory;
    private final List<ServletAt> servlets = new ArrayList<>();
    private final List<FilterAt> filters = new ArrayList<>();
    private @Nullable String errorPage;
    private boolean largeBodies;

    /**
     * Makes an application without anything in it.
     *
     * @param directory what the container shall take for its temporary directory
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

    /** Sets where all errors are dispatched to. */
    WebApp errorPage(String path) {
        this.errorPage = path;
        return this;
    }

    /** Turns off what a container has against large bodies of any kind. */
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
