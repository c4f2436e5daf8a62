package dev.sluice.samples.servlet;

import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.samples.report.Page;
import dev.sluice.samples.report.PresetName;
import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A web application on embedded Jetty with the paths {@code GET /}, {@code POST /parts} and {@code POST /async}. It
 * runs from {@link #start} to {@link #close}. Thread-safe.
 */
public final class ServletServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServletServer.class);

    /** The maximum number of bytes of a rejected body that are discarded, so that the client receives the response. */
    private static final long MAX_DRAIN_BYTES = 32L << 20;

    /** The time that running requests have to end when the server is closed. */
    private static final long STOP_MILLIS = 2_000;

    private static final long SHUTDOWN_IDLE_MILLIS = 100;

    /** How long a client may send nothing while a thread waits, in grace periods: 6 times 5 seconds by default. */
    private static final int IDLE_GRACES = 6;

    private static final long MIN_IDLE_MILLIS = 500;

    /**
     * Limits simultaneous requests to /parts, which hold a thread while the client sends. Requests to /async do not.
     */
    private static final int MOST_THREADS = 64;

    private final SampleConfig config;
    private final SpoolDirectory spool;
    private final MemoryBudget memory;
    private final Server server = new Server(new QueuedThreadPool(MOST_THREADS));
    private final ServerConnector connector;

    private ServletServer(SampleConfig config) throws IOException {
        this.config = config;
        this.memory = MemoryBudget.of(SampleConfig.MEMORY_BYTES);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        this.connector = new ServerConnector(server, new HttpConnectionFactory(http));
        connector.setHost(config.host());
        connector.setPort(config.port());
        connector.setShutdownIdleTimeout(SHUTDOWN_IDLE_MILLIS);
        server.addConnector(connector);
        this.spool = SpoolDirectory.open(config.directory());
        long grace = options(config.preset().preset()).minRateGrace().toMillis();
        connector.setIdleTimeout(Math.max(MIN_IDLE_MILLIS, IDLE_GRACES * grace));
        server.setHandler(application());
        server.setStopTimeout(STOP_MILLIS);
    }

    /**
     * Starts a server and returns when it accepts connections.
     *
     * @throws IOException if the directory cannot be used or the address is in use
     */
    public static ServletServer start(SampleConfig config) throws IOException {
        ServletServer started = new ServletServer(config);
        try {
            started.server.start();
            return started;
        } catch (Exception e) {
            started.close();
            if (e instanceof IOException io) {
                throw io;
            }
            throw new IOException("the server failed to start: " + e.getMessage(), e);
        }
    }

    private ServletContextHandler application() {
        ServletContextHandler context = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
        context.setErrorHandler(new JsonErrors());
        context.addServlet(new ServletHolder(new PageServlet()), "");
        context.addServlet(new ServletHolder(new PartsServlet()), "/parts");
        ServletHolder async = new ServletHolder(new AsyncServlet());
        async.setAsyncSupported(true);
        context.addServlet(async, "/async");
        FilterHolder head = async(new RequestHead(config.preset()));
        FilterHolder multipart = async(sluiceFilter());
        for (String path : new String[] {"/parts", "/async"}) {
            context.addFilter(head, path, EnumSet.of(DispatcherType.REQUEST));
            context.addFilter(multipart, path, EnumSet.allOf(DispatcherType.class));
        }
        return context;
    }

    private static FilterHolder async(Filter filter) {
        FilterHolder holder = new FilterHolder(filter);
        holder.setAsyncSupported(true);
        return holder;
    }

    private PresetFilter sluiceFilter() {
        Map<PresetName, SluiceFilter> filters = new EnumMap<>(PresetName.class);
        for (PresetName name : PresetName.values()) {
            filters.put(name, SluiceFilter.of(options(name.preset())));
        }
        return new PresetFilter(filters);
    }

    /** {@return options that decode and expand nothing, so that the result can be compared with the inspector} */
    private FormOptions options(Preset preset) {
        return config.options()
                .apply(FormOptions.builder(spool, memory)
                        .preset(preset)
                        .decodeTransferEncodings(false)
                        .expandNested(false)
                        .maxDrainBytes(MAX_DRAIN_BYTES))
                .build();
    }

    public int port() {
        return connector.getLocalPort();
    }

    /** {@return the address of the page} */
    public URI uri() {
        return Page.address(false, config.host(), port());
    }

    /** {@return the absolute path of the directory for temporary files} */
    public Path directory() {
        return config.directory().toAbsolutePath();
    }

    /** {@return the memory currently held by all forms together, in bytes} */
    public long memoryUsed() {
        return memory.used();
    }

    /** Waits until the server is closed by another thread. */
    public void join() throws InterruptedException {
        server.join();
    }

    /** Closes all connections, deletes all files, and returns when all threads of the server have ended. */
    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            LOG.warn("the server did not stop cleanly", e);
        }
        try {
            spool.close();
        } catch (IOException e) {
            LOG.warn("the spool directory could not be deleted", e);
        }
    }
}
