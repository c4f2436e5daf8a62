package dev.sluice.servlet.abort;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.MultipartFilter;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A Jetty in which every request gets a filter of its own, so that it can be told what is left of each of them. */
final class AbortedApp {
    static final String FILTERED = "/filtered";
    static final String ASYNC = "/async";

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Server server = new Server(new QueuedThreadPool(16));
    private final ServerConnector connector = new ServerConnector(server);
    private final ChangedFilter filter = new ChangedFilter();
    private volatile Visit visit;

    /** One request: what its form was told, and what a test may lay hands on. */
    static final class Visit implements FormMetrics {
        private final boolean servletThrows;
        private volatile boolean started;
        private final AtomicInteger bytes = new AtomicInteger();
        private volatile boolean formEnded;
        private volatile boolean served;
        private volatile Thread worker;
        private volatile AsyncForm form;
        private volatile AsyncContext context;

        /** @param servletThrows once it has the whole form */
        Visit(boolean servletThrows) {
            this.servletThrows = servletThrows;
        }

        @Override
        public void formStarted() {
            started = true;
        }

        @Override
        public void bodyReceived(int count) {
            bytes.addAndGet(count);
        }

        @Override
        public void formEnded(FormSummary summary) {
            formEnded = true;
        }

        /** Waits until the form has been given as many bytes. */
        void awaitBytes(int count) {
            eventually("the bytes come in", () -> started && bytes.get() >= count);
        }

        void awaitFormEnded() {
            eventually("the form ends", () -> formEnded);
        }

        /** Waits until the servlet has returned, or its asynchronous form is through. */
        void awaitServed() {
            eventually("the request is served", () -> served);
        }

        AsyncForm form() {
            eventually("the form is there", () -> form != null);
            return form;
        }

        AsyncContext context() {
            return context;
        }

        Thread worker() {
            return worker;
        }
    }

    AbortedApp() throws Exception {
        connector.setIdleTimeout(PATIENCE.toMillis());
        connector.setHost("127.0.0.1");
        connector.setAcceptQueueSize(100);
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        FilterHolder holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        context.addFilter(holder, "/*", EnumSet.allOf(DispatcherType.class));
        ServletHolder servlet = new ServletHolder(new Receiver());
        servlet.setAsyncSupported(true);
        context.addServlet(servlet, "/*");
        server.setHandler(context);
        server.start();
    }

    /** Makes the filter for the next request. */
    MultipartFilter next(Visit nextVisit, FormOptions options) throws ServletException {
        return next(nextVisit, MultipartFilter.of(options));
    }

    MultipartFilter next(Visit nextVisit, MultipartFilter made) throws ServletException {
        visit = nextVisit;
        made.init(filter.config);
        filter.current = made;
        return made;
    }

    /** From now on the container drops the workers that it is asked to start, as Jetty does once a request is over. */
    void dropWorkers() {
        filter.dropsWorkers = true;
    }

    /** Waits until a worker has been dropped. */
    void awaitDropped() {
        eventually("a worker is dropped", () -> filter.dropped);
    }

    int port() {
        return connector.getLocalPort();
    }

    /** Waits for what other threads are about to do. */
    static void eventually(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - end < 0, what);
            Thread.yield();
        }
    }

    void stop() throws Exception {
        server.stop();
    }

    private static final class ChangedFilter implements Filter {
        private volatile FilterConfig config;
        private volatile MultipartFilter current;
        private volatile boolean dropsWorkers;
        private volatile boolean dropped;

        @Override
        public void init(FilterConfig given) {
            config = given;
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            current.doFilter(
                    dropsWorkers ? new WorklessRequest((HttpServletRequest) request, () -> dropped = true) : request,
                    response,
                    chain);
        }
    }

    private static final class WorklessRequest extends HttpServletRequestWrapper {
        private final Runnable onDrop;

        WorklessRequest(HttpServletRequest request, Runnable onDrop) {
            super(request);
            this.onDrop = onDrop;
        }

        @Override
        public AsyncContext startAsync() {
            return workless(super.startAsync());
        }

        @Override
        public AsyncContext getAsyncContext() {
            return workless(super.getAsyncContext());
        }

        private AsyncContext workless(AsyncContext context) {
            return (AsyncContext) Proxy.newProxyInstance(
                    AsyncContext.class.getClassLoader(),
                    new Class<?>[] {AsyncContext.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("start")) {
                            onDrop.run();
                            return null;
                        }
                        return method.invoke(context, arguments);
                    });
        }
    }

    /** Not one of the usual base classes: those are serializable, and what this refers to is not. */
    private final class Receiver implements Servlet {
        @Override
        public void init(ServletConfig config) {}

        @Override
        public ServletConfig getServletConfig() {
            return null;
        }

        @Override
        public String getServletInfo() {
            return "";
        }

        @Override
        public void destroy() {}

        @Override
        public void service(ServletRequest request, ServletResponse response) throws IOException, ServletException {
            HttpServletRequest http = (HttpServletRequest) request;
            if (http.getRequestURI().equals(ASYNC)) {
                receive(http, (HttpServletResponse) response, visit);
            } else {
                parse(http, visit);
            }
        }

        private void parse(HttpServletRequest request, Visit current) throws IOException, ServletException {
            current.worker = Thread.currentThread();
            try {
                request.getParts();
                if (current.servletThrows) {
                    throw new ArithmeticException("a bug of the application");
                }
            } finally {
                Thread.interrupted(); // the thread is the container's
                current.served = true;
            }
        }

        private void receive(HttpServletRequest request, HttpServletResponse response, Visit current)
                throws IOException {
            AsyncContext context = request.startAsync();
            current.context = context;
            current.form = MultipartRequests.receive(request);
            current.form.completion().whenComplete((form, failure) -> {
                try {
                    answer(response, form, failure, current);
                } catch (IOException e) {
                    // nobody is there to be answered
                } finally {
                    context.complete();
                    current.served = true;
                }
            });
        }

        private void answer(HttpServletResponse response, MultipartForm form, Throwable failure, Visit current)
                throws IOException {
            if (form != null && current.servletThrows) {
                throw new ArithmeticException("a bug of the application");
            }
            if (form == null && !MultipartRequests.sendError(response, failure) && !response.isCommitted()) {
                response.sendError(500);
            }
        }
    }
}
