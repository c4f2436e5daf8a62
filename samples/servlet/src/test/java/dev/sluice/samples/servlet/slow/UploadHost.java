package dev.sluice.samples.servlet.slow;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.samples.servlet.SampleConfig;
import dev.sluice.samples.servlet.ServletServer;
import dev.sluice.servlet.MultipartFilter;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * A process that takes uploads at {@code POST /async} and tells what that costs it. Takes what to run and a directory;
 * writes the port and then, for each line {@code look} or {@code collect} (garbage first) that it reads, its {@link
 * Vitals}. Ends with its input, and so with whoever started it.
 */
final class UploadHost {
    /** What runs. */
    enum Kind {
        /** The sample as it is handed out, but for the limits that the test needs. */
        SAMPLE,
        /** A servlet that reads without blocking and drops what comes: what Jetty itself takes. */
        JETTY,
        /** The same with the filter and the asynchronous form, files going to disk. */
        SPILL,
        /** The same with everything kept in memory. */
        MEMORY
    }

    static final Duration SAMPLE_GRACE = Duration.ofSeconds(15);
    static final long SAMPLE_BODY_BYTES = 80L << 20;

    /** As the sample. */
    private static final int MOST_THREADS = 64;

    private static final long LARGE = 256L << 20;
    private static final Duration LONG = Duration.ofHours(1);

    private final AtomicLong bytes = new AtomicLong();

    private UploadHost() {}

    /** Runs until there are no more lines to read. */
    public static void main(String[] arguments) throws Exception {
        new UploadHost().run(Kind.valueOf(arguments[0]), Path.of(arguments[1]));
    }

    private void run(Kind kind, Path directory) throws Exception {
        switch (kind) {
            case SAMPLE -> {
                try (ServletServer server = ServletServer.start(SampleConfig.of(directory)
                        .withMaxBodyBytes(SAMPLE_BODY_BYTES)
                        .withRateGrace(SAMPLE_GRACE))) {
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

    /** The minimum rate is watched as ever; but nobody is closed while it is being measured. */
    private static ServletContextHandler application(FormOptions options) {
        ServletContextHandler context = new ServletContextHandler();
        context.addServlet(holder(new ReceivingServlet()), "/async");
        FilterHolder filter = new FilterHolder(
                MultipartFilter.of(options.toBuilder().minRateGrace(LONG).build()));
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
        System.out.println(port);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.equals("collect")) {
                System.gc();
                System.gc(); // what the first one has only enqueued
            }
            System.out.println(Vitals.now(budget.getAsLong(), bytes.get()).toLine());
        }
    }

    private record ByteCount(AtomicLong bytes) implements FormMetrics {
        @Override
        public void bodyReceived(int count) {
            bytes.addAndGet(count);
        }

        @Override
        public void formEnded(FormSummary summary) {
            // Only the bytes are of interest.
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
