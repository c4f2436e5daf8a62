package dev.sluice.samples.gateway;

import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.netty.FormReceiver;
import dev.sluice.netty.MultipartHandlers;
import dev.sluice.samples.netty.Protocols;
import dev.sluice.samples.report.Page;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An upload gateway with the paths {@code POST /upload} and {@code GET /}. It runs from {@link #start} to {@link #close}. */
public final class Gateway implements AutoCloseable {
    private static final int CONNECT_MILLIS = 5_000;

    /**
     * The settings of a gateway.
     *
     * @param port the port to listen on; 0 for any free one
     * @param upstream the address to which forms are posted
     * @param maxBodyBytes the size of the largest form, in bytes
     * @param maxUpstreamWait the time for which the upstream may accept no bytes
     */
    record Config(
            String host,
            int port,
            boolean tls,
            URI upstream,
            Rules rules,
            long maxBodyBytes,
            Duration maxUpstreamWait) {}

    private final Config config;
    private final MemoryBudget memory = MemoryBudget.of(Runtime.getRuntime().maxMemory() / 4);
    private final Forms forms;
    private final History history = new History();
    private final EventLoopGroup loops =
            new MultiThreadIoEventLoopGroup(0, new DefaultThreadFactory("gateway"), NioIoHandler.newFactory());
    private final NameLookup names = new NameLookup();
    private final Bootstrap client = new Bootstrap()
            .group(loops)
            .channel(NioSocketChannel.class)
            .resolver(names)
            .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS);
    private final MultipartHandlers handlers;
    private final Channel acceptor;

    private Gateway(Config config) throws IOException {
        this.config = config;
        FormOptions options = FormOptions.inMemory(memory)
                .preset(Preset.STRICT)
                .allocator(PooledByteBufAllocator.DEFAULT)
                .maxBodyBytes(config.maxBodyBytes())
                .maxSinkWait(config.maxUpstreamWait())
                .build();
        forms = Forms.of(options);
        handlers = MultipartHandlers.onEventLoop(forms, this::route).build(); // nothing blocks
        try {
            acceptor = bind();
        } catch (IOException | RuntimeException e) {
            stop();
            throw e;
        }
    }

    /**
     * Starts a gateway and returns when it accepts connections.
     *
     * @throws IOException if it cannot listen on the address
     */
    static Gateway start(Config config) throws IOException {
        return new Gateway(config);
    }

    private @Nullable FormReceiver route(HttpRequest request) {
        return HttpMethod.POST.equals(request.method())
                        && new QueryStringDecoder(request.uri()).rawPath().equals("/upload")
                ? new ForwardedForm(client, config.upstream(), config.rules(), history.begin())
                : null;
    }

    private Channel bind() throws IOException {
        String upstream = config.upstream().toString();
        Protocols.Others others = (request, method) ->
                Responses.other(request, method, () -> HistoryPage.html(config.rules(), upstream, history));
        ChannelFuture binding = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new Protocols(handlers, others, config.tls()))
                .bind(config.host(), config.port())
                .awaitUninterruptibly();
        if (!binding.isSuccess()) {
            String reason = binding.cause() instanceof UnresolvedAddressException
                    ? "unknown host" // the exception has no message
                    : binding.cause().getMessage();
            throw new IOException(
                    "cannot listen on " + config.host() + ":" + config.port() + ": " + reason, binding.cause());
        }
        return binding.channel();
    }

    URI uri() {
        return Page.address(config.tls(), config.host(), ((InetSocketAddress) acceptor.localAddress()).getPort());
    }

    /** {@return the bytes of memory that forms hold} */
    long usedMemory() {
        return memory.used();
    }

    /** Closes all connections, and returns when all threads have ended. */
    @Override
    public void close() throws IOException {
        acceptor.close().awaitUninterruptibly();
        stop();
    }

    private void stop() throws IOException {
        handlers.shutdown(Duration.ZERO)
                .toCompletableFuture()
                .completeOnTimeout(null, 5, TimeUnit.SECONDS)
                .join();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        names.close();
        forms.close();
    }
}
