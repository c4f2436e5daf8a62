package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Servlets behind the filter, in a Jetty of their own; sees to it that nothing is left in the end. */
final class JettyApp {
    /** What a servlet does. */
    interface Service {
        void serve(HttpServletRequest request, HttpServletResponse response) throws Exception;
    }

    final MemoryBudget memory = MemoryBudget.of(8 << 20);
    final SpoolDirectory spool;

    /** What servlets have thrown. */
    final Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();

    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server);
    private final ServletContextHandler context = new ServletContextHandler();
    private UnaryOperator<FormOptions.Builder> options = builder -> builder;
    private UnaryOperator<MultipartFilter.Builder> settings = builder -> builder;
    private MultipartFilter filter;

    /** Not one of the usual base classes: those are serializable, and what they serve is not. */
    private record ServiceServlet(Service service, Queue<Throwable> thrown) implements Servlet {
        @Override
        public void init(ServletConfig config) {}

        @Override
        public ServletConfig getServletConfig() {
            return null;
        }

        @Override
        public void service(ServletRequest request, ServletResponse response) throws ServletException, IOException {
            try {
                service.serve((HttpServletRequest) request, (HttpServletResponse) response);
            } catch (ServletException | IOException | RuntimeException e) {
                thrown.add(e);
                throw e;
            } catch (Exception e) {
                throw new ServletException(e);
            }
        }

        @Override
        public String getServletInfo() {
            return "";
        }

        @Override
        public void destroy() {}
    }

    JettyApp(Path directory) throws IOException {
        this.spool = SpoolDirectory.builder(directory).keepFreeBytes(0).open();
        connector.setIdleTimeout(20_000);
        server.addConnector(connector);
        server.setHandler(context);
        context.setTempDirectory(directory.resolve("context-temp").toFile());
    }

    JettyApp options(UnaryOperator<FormOptions.Builder> change) {
        options = change;
        return this;
    }

    JettyApp filter(UnaryOperator<MultipartFilter.Builder> change) {
        settings = change;
        return this;
    }

    JettyApp on(String path, Service service) {
        return on(path, service, null);
    }

    JettyApp on(String path, Service service, MultipartConfigElement config) {
        ServletHolder holder = new ServletHolder(new ServiceServlet(service, thrown));
        holder.setAsyncSupported(true);
        if (config != null) {
            holder.getRegistration().setMultipartConfig(config);
        }
        context.addServlet(holder, path);
        return this;
    }

    FormOptions formOptions() {
        return options.apply(FormOptions.builder(spool, memory).noMinimumRate()).build();
    }

    ServletContextHandler context() {
        return context;
    }

    MultipartFilter filter() {
        return filter;
    }

    JettyApp start() throws Exception {
        return start(settings.apply(MultipartFilter.builder(formOptions())).build());
    }

    /** Starts with a filter that was made elsewhere. */
    JettyApp start(MultipartFilter made) throws Exception {
        filter = made;
        FilterHolder holder = new FilterHolder(made);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", EnumSet.allOf(DispatcherType.class));
        return startBare();
    }

    /** Starts without the filter. */
    JettyApp startBare() throws Exception {
        server.start();
        return this;
    }

    RawClient connect() throws IOException {
        return new RawClient(connector.getLocalPort());
    }

    RawClient.Answer post(String target, FormBody body) throws IOException {
        try (RawClient client = connect()) {
            return client.send(body.post(target)).answer();
        }
    }

    /** Waits for what other threads are about to do. */
    static void eventually(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, what);
            Thread.onSpinWait();
        }
    }

    void assertNothingLeft() {
        eventually("files are left", () -> spool.files() == 0);
        eventually("memory is left", () -> memory.used() == 0);
        if (filter != null) {
            eventually("requests are left", () -> filter.live() == 0);
        }
    }

    void close() throws Exception {
        try (spool) {
            assertNothingLeft();
        } finally {
            server.stop();
        }
        assertEquals(0, memory.used());
    }

    void stop() throws Exception {
        server.stop();
    }
}
