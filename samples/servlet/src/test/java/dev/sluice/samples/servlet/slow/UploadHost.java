package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.samples.servlet.SampleConfig;
import dev.sluice.samples.servlet.ServletServer;
import dev.sluice.samples.upload.soak.ServerProcess;
import dev.sluice.samples.upload.soak.Vitals;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.SpooledFiles;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A process that receives uploads at {@code POST /async} and reports the resources that it uses. */
final class UploadHost {
    /** The kinds of servers. */
    enum Kind {
        /** The delivered sample, except for the limits that the test needs. */
        SAMPLE,
        /** A servlet that reads without blocking and discards the data: the cost of Jetty itself. */
        JETTY,
        /** The same with the filter and the asynchronous form, with files on disk. */
        SPILL,
        /** The same with everything in memory. */
        MEMORY
    }

    static final Duration SAMPLE_GRACE = Duration.ofSeconds(15);
    static final long SAMPLE_BODY_BYTES = 80L << 20;

    /** the same as the sample's */
    private static final int MOST_THREADS = 64;

    private static final long LARGE = 256L << 20;
    private static final Duration LONG = Duration.ofHours(1);

    private final AtomicLong bytes = new AtomicLong();

    private UploadHost() {}

    /** Starts a process with {@code spool} and {@code err} in a directory of its own. */
    static ServerProcess start(Kind kind, Path directory, String... options) throws IOException {
        return new ServerProcess(
                directory.resolve("err"), UploadHost.class, List.of(options), kind, directory.resolve("spool"));
    }

    /** {@return the temporary files of uploads} */
    static List<Path> uploads(Path directory) throws IOException {
        return SpooledFiles.below(directory.resolve("spool"));
    }

    /** Ends the process, and requires an empty error output and an empty spool. */
    static void end(ServerProcess process, Path directory) throws IOException, InterruptedException {
        process.end();
        assertEquals("", process.complaint());
        Path spool = directory.resolve("spool");
        if (Files.exists(spool)) { // the discarding server has no spool
            try (Stream<Path> left = Files.walk(spool)) {
                assertEquals(List.of(spool), left.toList());
            }
        }
    }

    /** Runs until the input ends. */
    public static void main(String[] arguments) throws Exception {
        new UploadHost().run(Kind.valueOf(arguments[0]), Path.of(arguments[1]));
    }

    private void run(Kind kind, Path directory) throws Exception {
        switch (kind) {
            case SAMPLE -> {
                try (ServletServer server = ServletServer.start(SampleConfig.of(directory)
                        .with(options -> options.maxBodyBytes(SAMPLE_BODY_BYTES).minRateGrace(SAMPLE_GRACE)))) {
                    answer(server.port(), server::memoryUsed);
                }
            }
            case JETTY -> {
                ServletContextHandler context = new ServletContextHandler();
                context.addServlet(holder(new DroppingServlet(bytes)), "/async");
                serve(context, () -> 0);
            }
            case SPILL, MEMORY -> {
                MemoryBudget memory = MemoryBudget.of(LARGE);
                try (SpoolDirectory spool = SpoolDirectory.open(directory)) {
                    serve(application(options(kind, spool, memory)), memory::used);
                }
            }
        }
    }

    private FormOptions options(Kind kind, SpoolDirectory spool, MemoryBudget memory) {
        FormOptions.Builder options = FormOptions.builder(spool, memory).metrics(new ByteCount(bytes));
        return (kind == Kind.MEMORY ? options.spillThreshold(LARGE).maxInMemoryBytes(LARGE) : options).build();
    }

    /** Enables the minimum rate with a value that closes no client during the measurement. */
    private static ServletContextHandler application(FormOptions options) {
        ServletContextHandler context = new ServletContextHandler();
        context.addServlet(holder(new ReceivingServlet()), "/async");
        FilterHolder filter = new FilterHolder(
                SluiceFilter.of(options.toBuilder().minRateGrace(LONG).build()));
        filter.setAsyncSupported(true);
        context.addFilter(filter, "/async", EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        return context;
    }

    private static ServletHolder holder(HttpServlet servlet) {
        ServletHolder holder = new ServletHolder(servlet);
        holder.setAsyncSupported(true);
        return holder;
    }

    private void serve(ServletContextHandler context, LongSupplier budget) throws Exception {
        Server server = new Server(new QueuedThreadPool(MOST_THREADS));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setIdleTimeout(LONG.toMillis());
        server.addConnector(connector);
        server.setHandler(context);
        server.start();
        try {
            answer(connector.getLocalPort(), budget);
        } finally {
            server.stop();
        }
    }

    private void answer(int port, LongSupplier budget) throws IOException {
        ServerProcess.answer(port, () -> Vitals.now(budget.getAsLong(), bytes.get()));
    }

    private record ByteCount(AtomicLong bytes) implements FormMetrics {
        @Override
        public void bodyReceived(int count) {
            bytes.addAndGet(count);
        }

        @Override
        public void formEnded(FormSummary summary) {
            // only the number of bytes matters
        }
    }

    private static final class ReceivingServlet extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            AsyncContext context = request.startAsync();
            context.setTimeout(0);
            MultipartRequests.receive(request).completion().whenComplete((form, failure) -> context.complete());
        }
    }

    private static final class DroppingServlet extends HttpServlet {
        private static final long serialVersionUID = 1L;
        private static final ThreadLocal<byte[]> SCRAP = ThreadLocal.withInitial(() -> new byte[32 << 10]);

        private final transient AtomicLong bytes;

        DroppingServlet(AtomicLong bytes) {
            this.bytes = bytes;
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            AsyncContext context = request.startAsync();
            context.setTimeout(0);
            ServletInputStream in = request.getInputStream();
            in.setReadListener(new ReadListener() {
                @Override
                public void onDataAvailable() throws IOException {
                    byte[] scrap = SCRAP.get();
                    while (in.isReady() && !in.isFinished()) {
                        bytes.addAndGet(Math.max(in.read(scrap), 0));
                    }
                }

                @Override
                public void onAllDataRead() {
                    context.complete();
                }

                @Override
                public void onError(Throwable reason) {
                    context.complete();
                }
            });
        }
    }
}
