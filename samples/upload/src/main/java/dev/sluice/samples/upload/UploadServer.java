package dev.sluice.samples.upload;

import dev.sluice.samples.report.Page;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The upload server: {@code GET /}, {@code POST /upload}, {@code POST /inspect}, {@code GET /metrics}. It runs from
 * {@link #start} to {@link #close}. Thread-safe.
 */
public final class UploadServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(UploadServer.class);
    private static final int MAX_LINE_BYTES = 4096;
    private static final int MAX_HTTP_HEADER_BYTES = 16 << 10;
    private static final int MAX_CHUNK_BYTES = 64 << 10;

    private final ServerConfig config;
    private final UploadDirectory directory;
    private final PooledByteBufAllocator allocator = PooledByteBufAllocator.DEFAULT;
    private final ServerMetrics metrics = new ServerMetrics(allocator);
    private final EventLoopGroup loops =
            new MultiThreadIoEventLoopGroup(0, new DefaultThreadFactory("sluice-io"), NioIoHandler.newFactory());
    private final EventExecutorGroup workers = new DefaultEventExecutorGroup(
            Math.max(4, 2 * Runtime.getRuntime().availableProcessors()), new DefaultThreadFactory("sluice-disk"));
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final Channel acceptor;

    private UploadServer(ServerConfig config, BodyReceiver.Factory receivers) throws IOException {
        this.config = config;
        try {
            this.directory = UploadDirectory.open(config.directory(), config.keepFreeBytes());
        } catch (IOException | RuntimeException e) {
            stopThreads();
            throw e;
        }
        try {
            this.acceptor = bind(receivers);
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
        return start(config, BodyIntake::new);
    }

    /** Starts a server that takes in bodies in another way. */
    static UploadServer start(ServerConfig config, BodyReceiver.Factory receivers) throws IOException {
        return new UploadServer(config, receivers);
    }

    private Channel bind(BodyReceiver.Factory receivers) throws IOException {
        ConnectionHandler.Services services = new ConnectionHandler.Services(
                config, directory, metrics, workers, allocator, Page.load(UploadServer.class), receivers);
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.SO_BACKLOG, 512)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.AUTO_READ, false)
                // A client that has sent its request may close its half and still read the answer.
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        connections.add(channel);
                        channel.pipeline()
                                .addLast(new HttpServerCodec(new HttpDecoderConfig()
                                        .setMaxInitialLineLength(MAX_LINE_BYTES)
                                        .setMaxHeaderSize(MAX_HTTP_HEADER_BYTES)
                                        .setMaxChunkSize(MAX_CHUNK_BYTES)))
                                // One message per read(): a read of the socket may hold many.
                                .addLast(new FlowControlHandler())
                                .addLast(new ConnectionHandler(services));
                    }
                });
        var binding = bootstrap.bind(config.host(), config.port()).awaitUninterruptibly();
        if (!binding.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + config.host() + ":" + config.port() + ": "
                            + binding.cause().getMessage(),
                    binding.cause());
        }
        return binding.channel();
    }

    /** {@return the port it listens on} */
    public int port() {
        return ((InetSocketAddress) acceptor.localAddress()).getPort();
    }

    /** {@return the address of its page} */
    public URI uri() {
        String host = config.host();
        String shown = host.equals("0.0.0.0") || host.equals("::") || host.equals("127.0.0.1") ? "localhost" : host;
        return URI.create("http://" + (shown.indexOf(':') < 0 ? shown : "[" + shown + "]") + ":" + port() + "/");
    }

    /** {@return where files are stored; absolute} */
    public Path directory() {
        return directory.path();
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
        stopThreads();
        try {
            directory.close();
        } catch (IOException e) {
            LOG.warn("the lock file could not be deleted", e);
        }
    }

    private void stopThreads() {
        // In this order: a connection that closes hands the deletion of its files to a worker.
        connections.close().awaitUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        workers.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        metrics.close();
    }
}
