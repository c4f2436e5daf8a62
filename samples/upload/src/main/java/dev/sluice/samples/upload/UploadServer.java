package dev.sluice.samples.upload;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.netty.MultipartHandlers;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.samples.netty.Protocols;
import dev.sluice.samples.report.Page;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An upload server with the paths {@code GET /}, {@code POST /upload}, {@code POST /inspect} and {@code GET /metrics}.
 * It runs from {@link #start} to {@link #close}. Thread-safe.
 */
public final class UploadServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UploadServer.class);

    /** The subdirectory for incomplete files. No stored file has a name that starts with a dot. */
    private static final String INCOMING = ".incoming";

    /**
     * The maximum number of bytes of a rejected body that are read and discarded. A client that is still sending then receives
     * the response instead of a reset.
     */
    private static final long MAX_DRAIN_BYTES = 16 << 20;

    static final String PREFIX = "uploads/";

    private final ServerConfig config;
    private final SpoolDirectory spool;
    private final MemoryBudget memory = MemoryBudget.of(Runtime.getRuntime().maxMemory() / 4);
    private final PooledByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    private final ServerMetrics metrics = new ServerMetrics(allocator, memory);
    private final @Nullable ObjectStore objectStore;
    private final @Nullable S3Sinks objects;
    private final EventLoopGroup loops;
    private final EventExecutorGroup workers = new DefaultEventExecutorGroup(
            Math.max(4, 2 * Runtime.getRuntime().availableProcessors()), new DefaultThreadFactory("sluice-disk"));
    private final MultipartHandlers handlers;
    private final Channel acceptor;

    private UploadServer(ServerConfig config) throws IOException {
        this.config = config;
        this.spool = SpoolDirectory.builder(directory().resolve(INCOMING))
                .unlimitedSpoolBytes()
                .unlimitedSpoolFiles()
                .keepFreeBytes(config.keepFreeBytes())
                .open();
        try {
            ServerConfig.Bucket bucket = config.bucket();
            this.objectStore = bucket == null ? null : open(bucket);
            this.objects = bucket == null || objectStore == null ? null : connect(objectStore, bucket);
        } catch (IOException | RuntimeException e) {
            spool.close();
            throw e;
        }
        this.loops =
                new MultiThreadIoEventLoopGroup(0, new DefaultThreadFactory("sluice-io"), NioIoHandler.newFactory());
        FormOptions options = options();
        this.handlers = handlers(options);
        try {
            this.acceptor =
                    bind(Map.of("maxFiles", options.multipart().maxFiles(), "maxBodyBytes", config.maxBodyBytes()));
        } catch (IOException | RuntimeException e) {
            stop();
            throw e;
        }
    }

    /**
     * Starts a server and returns when it accepts connections.
     *
     * @throws IOException if the directory or the bucket cannot be used, or the address is in use
     */
    public static UploadServer start(ServerConfig config) throws IOException {
        return new UploadServer(config);
    }

    /** Opens a store with credentials from the SDK's default sources, such as the environment. */
    static ObjectStore open(ServerConfig.Bucket bucket) {
        return S3ObjectStore.builder(bucket.name())
                .endpoint(bucket.endpoint())
                .region("us-east-1")
                .pathStyle(true)
                .build();
    }

    /** {@return sinks into a store that can be used} Otherwise it closes the store. */
    private S3Sinks connect(ObjectStore store, ServerConfig.Bucket bucket) throws IOException {
        try {
            S3Sinks sinks = S3Sinks.builder(store, memory).prefix(PREFIX).build();
            sinks.probe()
                    .orTimeout(StoreAddress.RESPONSE_SECONDS, TimeUnit.SECONDS)
                    .join();
            return sinks;
        } catch (RuntimeException e) {
            store.close();
            throw new IOException(
                    "cannot use the bucket " + bucket.name() + " at " + bucket.endpoint() + ": "
                            + StoreAddress.reason(e),
                    e);
        }
    }

    private FormOptions options() {
        return FormOptions.builder(spool, memory)
                .expandNested(false) // sizes and digests refer to the bytes on the wire
                .minBytesPerSecond(ServerConfig.MIN_BYTES_PER_SECOND)
                .minRateGrace(config.rateGrace())
                .maxDrainBytes(MAX_DRAIN_BYTES)
                .metrics(metrics)
                .build();
    }

    private MultipartHandlers handlers(FormOptions options) {
        ReceivedParts.Store store = new ReceivedParts.Store(spool, directory());
        FormRequest.Services services = new FormRequest.Services(config, store, objects, metrics);
        return MultipartHandlers.builder(Forms.of(options), services::route, workers)
                .build();
    }

    private Channel bind(Map<String, Long> limits) throws IOException {
        Page page = Page.load(UploadServer.class, limits);
        Protocols.Others others = (request, method) -> Responses.other(request, method, metrics, page);
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                // A client may close its side after the request and still read the response.
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new Protocols(handlers, others, config.tls()));
        ChannelFuture binding = bootstrap.bind(config.host(), config.port()).awaitUninterruptibly();
        if (!binding.isSuccess()) {
            String place = config.host() + ":" + config.port();
            throw new IOException(
                    "cannot listen on " + place + ": " + binding.cause().getMessage(), binding.cause());
        }
        return binding.channel();
    }

    public int port() {
        return ((InetSocketAddress) acceptor.localAddress()).getPort();
    }

    /** {@return the address of the page} */
    public URI uri() {
        return Page.address(config.tls(), config.host(), port());
    }

    /** {@return the absolute path of the directory for files} */
    public Path directory() {
        return config.directory().toAbsolutePath().normalize();
    }

    /** Waits until the server is closed by another thread. */
    public void join() throws InterruptedException {
        acceptor.closeFuture().sync();
    }

    /** Closes all connections, deletes incomplete files, and returns when all threads have ended. */
    @Override
    public void close() {
        acceptor.close().awaitUninterruptibly();
        stop();
    }

    private void stop() {
        // The workers stop last, because they delete the files of the closed connections.
        handlers.shutdown(Duration.ZERO)
                .toCompletableFuture()
                .completeOnTimeout(null, 5, TimeUnit.SECONDS)
                .join();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        workers.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        if (objectStore != null && objects != null) {
            objects.whenIdle().completeOnTimeout(null, 5, TimeUnit.SECONDS).join();
            objectStore.close();
        }
        metrics.close();
        try {
            spool.close();
            Files.deleteIfExists(directory().resolve(INCOMING));
        } catch (IOException e) {
            LOG.debug(
                    "the spool directory could not be removed: another server uses it, or the next one will clean it up",
                    e);
        }
    }
}
