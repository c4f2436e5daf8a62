package dev.sluice.samples.upload;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.netty.MultipartHandlers;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.samples.report.Page;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
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
 * The upload server: {@code GET /}, {@code POST /upload}, {@code POST /inspect}, {@code GET /metrics}. It runs from
 * {@link #start} to {@link #close}. Thread-safe.
 */
public final class UploadServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UploadServer.class);

    /** How the server waits for its connections. */
    record Transport(IoHandlerFactory handlers, Class<? extends ServerSocketChannel> acceptor) {
        static final Transport NIO = new Transport(NioIoHandler.newFactory(), NioServerSocketChannel.class);
    }

    /** Where files wait in the directory; no stored file has a name that starts with a dot. */
    private static final String INCOMING = ".incoming";

    /** What clients on this machine may have under way when they are refused: files, in large pieces. */
    private static final long MAX_DRAIN_BYTES = 16 << 20;

    /** What the keys of objects begin with. */
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

    private UploadServer(ServerConfig config, Transport transport) throws IOException {
        this.config = config;
        this.spool = SpoolDirectory.builder(directory().resolve(INCOMING))
                .unlimitedSpoolBytes()
                .unlimitedSpoolFiles()
                .keepFreeBytes(config.keepFreeBytes())
                .open();
        this.objectStore = config.bucket() == null ? null : open(config.bucket());
        this.objects = objectStore == null
                ? null
                : S3Sinks.builder(objectStore, memory).prefix(PREFIX).build();
        this.loops = new MultiThreadIoEventLoopGroup(0, new DefaultThreadFactory("sluice-io"), transport.handlers());
        FormOptions options = options();
        this.handlers = handlers(options);
        try {
            this.acceptor = bind(
                    transport.acceptor(),
                    Map.of("maxFiles", options.multipart().maxFiles(), "maxBodyBytes", config.maxBodyBytes()));
        } catch (IOException | RuntimeException e) {
            stop();
            throw e;
        }
    }

    /**
     * Starts a server and returns when it takes connections.
     *
     * @throws IOException if the directory cannot be used or the address is taken
     */
    public static UploadServer start(ServerConfig config) throws IOException {
        return start(config, Transport.NIO);
    }

    static UploadServer start(ServerConfig config, Transport transport) throws IOException {
        return new UploadServer(config, transport);
    }

    /** Credentials come from the usual places of the SDK: the environment, say. */
    static ObjectStore open(ServerConfig.Bucket bucket) {
        return S3ObjectStore.builder(bucket.name())
                .endpoint(bucket.endpoint())
                .region("us-east-1")
                .pathStyle(true)
                .build();
    }

    private FormOptions options() {
        return FormOptions.builder(spool, memory)
                .expandNested(false) // parts as they are in the body
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

    private Channel bind(Class<? extends ServerSocketChannel> type, Map<String, Long> limits) throws IOException {
        ChannelHandler others = new OtherRequests(metrics, Page.load(UploadServer.class, limits));
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(type)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                // A client that has sent its request may close its half and still read the answer.
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

    /** {@return the port it listens on} */
    public int port() {
        return ((InetSocketAddress) acceptor.localAddress()).getPort();
    }

    /** {@return the address of its page} */
    public URI uri() {
        URI page = Page.address(config.host(), port());
        return config.tls() ? URI.create("https" + page.toString().substring("http".length())) : page;
    }

    /** {@return where files are stored; absolute} */
    public Path directory() {
        return config.directory().toAbsolutePath().normalize();
    }

    /** Waits until the server is closed by another thread. */
    public void join() throws InterruptedException {
        acceptor.closeFuture().sync();
    }

    /** Closes all connections, deletes what was not received to its end, and returns when no thread runs any more. */
    @Override
    public void close() {
        acceptor.close().awaitUninterruptibly();
        stop();
    }

    private void stop() {
        // In this order: a connection that closes hands the deletion of its files to a worker.
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
            LOG.debug("another server stores files in the same directory, or the next one has to sweep it", e);
        }
    }
}
