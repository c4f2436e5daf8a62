package dev.sluice.servlet.container;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.UnaryOperator;

/** An application with the filter and a servlet. {@link #close} checks that all files and memory are released. */
public final class App implements AutoCloseable {
    private static final String ERROR_PAGE = "/error";
    private static final DispatcherType[] WITH_ERROR_PAGE = {
        DispatcherType.ASYNC, DispatcherType.ERROR, DispatcherType.FORWARD
    };

    public final MemoryBudget memory;
    public final SpoolDirectory spool;

    private final Path directory;
    private final Store store;
    private final WorkServlet servlet = new WorkServlet();
    private final List<Filter> before = new ArrayList<>();
    private final List<Filter> after = new ArrayList<>();
    private boolean errorPage;
    private UnaryOperator<FormOptions.Builder> options = builder -> builder;
    private volatile SluiceFilter filter;
    private FilterConfig config;
    private RunningContainer container;

    /** @param directory the directory for the subdirectories {@code spool} and {@code container} */
    public App(Path directory) throws IOException {
        this.directory = directory;
        this.store = new Store(Files.createDirectory(directory.resolve("spool")));
        this.memory = store.memory();
        this.spool = store.spool();
    }

    public App options(UnaryOperator<FormOptions.Builder> change) {
        options = change;
        return this;
    }

    public App on(Work work) {
        return on(WorkServlet.ANY, work);
    }

    public App on(String path, Work work) {
        servlet.at(path, work);
        return this;
    }

    /** Sets the code of the error page, which the filters also process. */
    public App errorPage(Work work) {
        errorPage = true;
        return on(ERROR_PAGE, work);
    }

    public App before(Filter added) {
        before.add(added);
        return this;
    }

    /** Replaces each request before the filters see it. */
    public App wrap(UnaryOperator<HttpServletRequest> wrapper) {
        return before(
                (request, response, chain) -> chain.doFilter(wrapper.apply((HttpServletRequest) request), response));
    }

    public App after(Filter added) {
        after.add(added);
        return this;
    }

    /** {@return options with a spool and a budget that {@link #close} checks, and by default without a minimum rate} */
    public FormOptions formOptions() {
        return options.apply(store.options().noMinimumRate()).build();
    }

    public SluiceFilter filter() {
        return filter;
    }

    public Queue<Throwable> thrown() {
        return servlet.thrown();
    }

    public App start() throws Exception {
        return start(ServletContainer.JETTY);
    }

    App start(ServletContainer kind) throws Exception {
        return start(kind, SluiceFilter.of(formOptions()));
    }

    public App start(SluiceFilter made) throws Exception {
        return start(ServletContainer.JETTY, made);
    }

    App start(ServletContainer kind, SluiceFilter made) throws Exception {
        filter = made;
        return start(kind, new Filter[] {made});
    }

    public App startBare() throws Exception {
        return start(ServletContainer.JETTY, new Filter[0]);
    }

    /** Starts Jetty with a filter that {@link #next} can replace. */
    public App startForMany() throws Exception {
        return start(ServletContainer.JETTY, new Filter[] {new Changed()});
    }

    /**
     * Replaces the filter for the next request.
     *
     * @return the new filter
     */
    public SluiceFilter next(SluiceFilter made) throws ServletException {
        made.init(config);
        filter = made;
        return made;
    }

    private final class Changed implements Filter {
        @Override
        public void init(FilterConfig given) {
            config = given;
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            filter.doFilter(request, response, chain);
        }
    }

    private App start(ServletContainer kind, Filter[] own) throws Exception {
        stop();
        Path work = Files.createDirectories(directory.resolve("container"));
        WebApp app = new WebApp(work).largeBodies().servlet("/*", servlet);
        List<Filter> all = new ArrayList<>(before);
        all.addAll(List.of(own));
        all.addAll(after);
        all.forEach(each ->
                app.filter("/*", each, errorPage ? WITH_ERROR_PAGE : new DispatcherType[] {DispatcherType.ASYNC}));
        if (errorPage) {
            app.errorPage(ERROR_PAGE);
        }
        container = kind.start(app);
        return this;
    }

    /** Responds to a form that was received. */
    public interface FormHandler {
        void handle(MultipartForm form) throws IOException;
    }

    /** Receives a form asynchronously, and passes it to {@code handler}. Responds to a failure with its status. */
    public static void receive(HttpServletRequest request, HttpServletResponse response, FormHandler handler)
            throws IOException {
        AsyncForm form = MultipartRequests.receive(request);
        AsyncContext context = request.getAsyncContext();
        form.completion().whenComplete((whole, failure) -> {
            try {
                if (failure == null) {
                    handler.handle(whole);
                } else if (!MultipartRequests.sendError(response, failure)) {
                    response.setStatus(500);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                context.complete();
            }
        });
    }

    public RawHttp connect() throws IOException {
        return container.connect();
    }

    public RawHttp.Response send(byte[] request) throws IOException {
        try (RawHttp connection = connect()) {
            return connection.send(request).response();
        }
    }

    public RawHttp.Response post(String target, TestForm form) throws IOException {
        return send(form.post(target));
    }

    /** {@return a connection on which a form was sent, except for its last 5,000 bytes} */
    public RawHttp begin(TestForm form) throws IOException {
        byte[] request = form.post("/");
        return connect().send(request, 0, request.length - 5000);
    }

    /**
     * Sends a form except for its last 5,000 bytes, and waits until the spool has {@code files} files.
     *
     * @return the connection
     */
    public RawHttp begin(TestForm form, int files) throws IOException {
        RawHttp connection = begin(form);
        Eventually.isTrue(() -> spool.files() == files, () -> "the spool has " + spool.files() + " files");
        return connection;
    }

    /** Waits until all requests have ended and released their resources. */
    public void assertNothingLeft(Object after) {
        store.assertEmpty(after);
        if (filter != null) {
            Eventually.isTrue(() -> filter.live() == 0, () -> "a request has not ended after " + after);
        }
    }

    void stop() {
        if (container != null) {
            container.close();
            container = null;
        }
    }

    @Override
    public void close() throws IOException {
        try (store) {
            assertNothingLeft("the end");
        } finally {
            stop();
        }
    }
}
