package dev.sluice.samples.servlet.slow;

import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.TestForm;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Many clients on one thread. Each sends the head of an upload and waits for {@code 100 Continue}, which shows that the server is
 * reading. Then it sends the start of a body, and after that one byte per second. Until {@link #noMore}, a closed client is replaced.
 */
final class SlowClients implements AutoCloseable {
    private static final byte[] HEAD = TestForm.head("/async", "Content-Length: " + (1 << 20), "Expect: 100-continue");
    private static final byte[] START =
            new TestForm().field("a", "1").file("f", "slow.bin", new byte[10]).open();

    private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final List<Client> clients = new CopyOnWriteArrayList<>();
    private final AtomicInteger reading = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final Bootstrap bootstrap;
    private volatile boolean replacing = true;

    SlowClients(int port) {
        bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .remoteAddress(InetAddress.getLoopbackAddress(), port)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.AUTO_CLOSE, false) // a response may be readable although a byte cannot be sent
                .handler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new Client());
                    }
                });
    }

    final class Client extends ChannelInboundHandlerAdapter {
        private final StringBuilder response = new StringBuilder();
        private @Nullable Future<?> dripping;
        private volatile long begun;
        private volatile long ended;
        private volatile int status;

        /** {@return the status of its response; 0 if it has none} */
        int status() {
            return status;
        }

        /** {@return the time for which the server received data from this client or waited for it} */
        Duration activeTime() {
            return Duration.ofNanos(ended - begun);
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            begun = System.nanoTime();
            clients.add(this);
            open.incrementAndGet();
            ctx.writeAndFlush(Unpooled.wrappedBuffer(HEAD));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            response.append(bytes.toString(StandardCharsets.ISO_8859_1));
            bytes.release();
            if (dripping == null && response.indexOf("HTTP/1.1 100") == 0 && response.indexOf("\r\n\r\n") > 0) {
                response.delete(0, response.indexOf("\r\n\r\n") + 4);
                ctx.writeAndFlush(Unpooled.wrappedBuffer(START));
                dripping = ctx.executor()
                        .scheduleAtFixedRate(
                                () -> ctx.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {'x'})),
                                1,
                                1,
                                TimeUnit.SECONDS);
                reading.incrementAndGet();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close(); // the server has reset the connection
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (dripping != null) {
                dripping.cancel(false);
            }
            ended = System.nanoTime();
            boolean answered = response.length() >= 12 && response.indexOf("HTTP/1.1 ") == 0;
            status = answered ? Integer.parseInt(response.substring(9, 12)) : 0;
            open.decrementAndGet();
            if (replacing) {
                bootstrap.connect();
            }
        }
    }

    /** Adds clients, and waits until the server reads their bodies. */
    void enter(int count) {
        for (int i = 0; i < count; i++) {
            ChannelFuture connected = bootstrap.connect(); // one at a time: the queue of a listening socket is short
            connected.syncUninterruptibly();
        }
        Eventually.isTrue(() -> reading.get() >= count, this::toString);
    }

    void noMore() {
        replacing = false;
    }

    int open() {
        return open.get();
    }

    List<Client> all() {
        return clients;
    }

    @Override
    public String toString() {
        return clients.size() + " clients, " + reading + " of them read by the server, " + open + " open";
    }

    @Override
    public void close() {
        noMore();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
