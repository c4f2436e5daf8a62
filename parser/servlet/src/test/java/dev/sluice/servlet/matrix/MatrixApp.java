package dev.sluice.servlet.matrix;

import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.EnumSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The application that each container runs. It serves forms with both APIs, and counts the files and bytes that remain.
 */
@SuppressWarnings("serial")
public final class MatrixApp extends HttpServlet implements ServletContextListener {
    static final int MOST = 8 << 20;

    /** The maximum size of a part in memory. Larger parts are written to files. */
    static final int IN_MEMORY = 16 << 10;

    private static final String ERROR_PAGE = "/error";

    private final transient MemoryBudget memory = MemoryBudget.of(64 << 20);
    private transient SpoolDirectory spool;
    private transient SluiceFilter filter;
    private transient ScheduledExecutorService timer;

    @Override
    public void contextInitialized(ServletContextEvent event) {
        try {
            spool = SpoolDirectory.builder(Files.createTempDirectory("matrix"))
                    .keepFreeBytes(0)
                    .open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        timer = Executors.newSingleThreadScheduledExecutor();
        filter = SluiceFilter.of(FormOptions.builder(spool, memory)
                .spillThreshold(IN_MEMORY)
                .maxPartBytes(MOST)
                .build());
        ServletContext context = event.getServletContext();
        var registered = context.addFilter("sluice", filter);
        registered.setAsyncSupported(true);
        registered.addMappingForUrlPatterns(EnumSet.allOf(DispatcherType.class), false, "/*");
        var servlet = context.addServlet("forms", this);
        servlet.setAsyncSupported(true);
        servlet.addMapping("/parts", "/receive", "/paused", "/cancelled", "/timeout", "/plain", "/state", ERROR_PAGE);
    }

    @Override
    public void contextDestroyed(ServletContextEvent event) {
        timer.shutdownNow();
        try {
            spool.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        response.setContentType("text/plain;charset=UTF-8");
        switch (request.getServletPath()) {
            case "/parts" -> parts(request, response);
            case "/state" ->
                response.getWriter().print(spool.files() + " files, " + memory.used() + " bytes, " + filter.live());
            case ERROR_PAGE -> response.getWriter().print("page " + request.getParameter("a"));
            case "/plain" -> new PlainReader(request, response).start();
            default -> receive(request, response);
        }
    }

    private static void parts(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        StringBuilder text = new StringBuilder();
        for (Part part : request.getParts()) {
            try (InputStream in = part.getInputStream()) {
                describe(text, part.getName(), part.getSize(), in);
            }
        }
        String end = request.getQueryString();
        if ("error".equals(end)) {
            response.sendError(409);
        } else if ("throw".equals(end)) {
            throw new IllegalArgumentException("thrown by the application");
        } else {
            response.getWriter().print(text);
        }
    }

    private void receive(HttpServletRequest request, HttpServletResponse response) throws IOException {
        AsyncContext context = request.startAsync();
        String path = request.getServletPath();
        // On a busy machine, Jetty loses a timeout that ends before its thread has stored the task.
        context.setTimeout(path.equals("/timeout") ? 3000 : 0);
        PausedSink sink = new PausedSink();
        AsyncForm form = MultipartRequests.receive(
                request, options -> path.equals("/paused") ? options.decider(part -> PartDecision.to(sink)) : options);
        if (path.equals("/cancelled")) {
            long micros = Long.parseLong(request.getQueryString());
            timer.schedule(form::cancel, micros, TimeUnit.MICROSECONDS);
        }
        form.completion().whenComplete((whole, failure) -> {
            try {
                if (failure == null) {
                    response.getWriter().print(whole.parts().isEmpty() ? sink.toString() : describe(whole));
                } else if (!MultipartRequests.sendError(response, failure)) {
                    response.sendError(500);
                }
            } catch (IOException | IllegalStateException e) {
                log("not answered: " + e); // the client closed the connection, or the container has answered
            } finally {
                complete(context);
            }
        });
    }

    private static void complete(AsyncContext context) {
        try {
            context.complete();
        } catch (IllegalStateException e) {
            // the container completes the request after its timeout
        }
    }

    private static String describe(MultipartForm form) throws IOException {
        StringBuilder text = new StringBuilder();
        for (FormPart part : form.parts()) {
            try (InputStream in = part.inputStream()) {
                describe(text, part.name(), part.size(), in);
            }
        }
        return text.toString();
    }

    private static void describe(StringBuilder text, String name, long size, InputStream in) throws IOException {
        CRC32 sum = new CRC32();
        byte[] some = new byte[8192];
        for (int count = in.read(some); count >= 0; count = in.read(some)) {
            sum.update(some, 0, count);
        }
        text.append(describe(name, size, sum));
    }

    static String describe(String name, long size, CRC32 sum) {
        return name + ":" + size + ":" + Long.toHexString(sum.getValue()) + " ";
    }

    /** A sink that is not ready after each write until another thread makes it ready. */
    private final class PausedSink implements PartSink {
        private final CRC32 sum = new CRC32();
        private long size;

        @Override
        public Readiness write(ByteBuf data) {
            size += data.readableBytes();
            sum.update(data.nioBuffer());
            Readiness soon = Readiness.pending();
            timer.schedule(soon::ready, ThreadLocalRandom.current().nextInt(300), TimeUnit.MICROSECONDS);
            return soon;
        }

        @Override
        public Readiness complete() {
            return Readiness.READY;
        }

        @Override
        public void close() {}

        @Override
        public String toString() {
            return describe("f", size, sum);
        }
    }

    /** Does the same as {@code /paused} with the servlet API alone: reads, stops, and resumes on another thread. */
    private final class PlainReader implements ReadListener {
        private final AsyncContext context;
        private final ServletInputStream in;
        private final byte[] some = new byte[8192];
        private final AtomicBoolean ended = new AtomicBoolean();
        private final @Nullable String rejects;
        private volatile long size;

        PlainReader(HttpServletRequest request, HttpServletResponse response) throws IOException {
            context = request.startAsync(request, response);
            context.setTimeout(0);
            in = request.getInputStream();
            rejects = request.getQueryString();
        }

        void start() {
            in.setReadListener(this);
        }

        @Override
        public void onDataAvailable() throws IOException {
            if (in.isReady()) {
                int count = in.read(some);
                if (count < 0 || rejects != null) {
                    onAllDataRead();
                    return;
                }
                size += count;
                int micros = ThreadLocalRandom.current().nextInt(300);
                timer.schedule(() -> context.start(this::goOn), micros, TimeUnit.MICROSECONDS);
            } // else the container calls the listener again
        }

        private void goOn() {
            try {
                onDataAvailable();
            } catch (IOException e) {
                onError(e);
            }
        }

        @Override
        public void onAllDataRead() {
            if (ended.compareAndSet(false, true)) {
                if ("elsewhere".equals(rejects)) {
                    timer.execute(this::answer);
                } else {
                    answer();
                }
            }
        }

        private void answer() {
            try {
                HttpServletResponse response = (HttpServletResponse) context.getResponse();
                if (rejects != null) {
                    response.sendError(409);
                } else {
                    response.getWriter().print(size);
                }
            } catch (IOException e) {
                log("plain", e);
            } finally {
                context.complete();
            }
        }

        @Override
        public void onError(Throwable failure) {
            log("plain", failure);
            if (ended.compareAndSet(false, true)) {
                context.complete();
            }
        }
    }
}
