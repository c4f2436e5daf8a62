package dev.sluice.netty;

import dev.sluice.testkit.RawHttp;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A server with one event loop. */
final class NettyServer implements AutoCloseable {
    static final String LOOP = "event-loop";

    enum Transport {
        NIO,
        EPOLL;

        /** {@return NIO, and epoll if the {@code epoll} profile is active} Epoll fails on platforms that lack it. */
        static Transport[] selected() {
            return Boolean.getBoolean("sluice.epoll") ? values() : new Transport[] {NIO};
        }
    }

    final EventLoopGroup loop;

    private final Channel acceptor;

    @SuppressWarnings("deprecation") // the replacement in Netty 4.2 is not in Netty 4.1
    NettyServer(Transport transport, Consumer<Channel> pipeline) {
        ThreadFactory threads = new DefaultThreadFactory(LOOP);
        boolean epoll = transport == Transport.EPOLL;
        loop = epoll ? new EpollEventLoopGroup(1, threads) : new NioEventLoopGroup(1, threads);
        acceptor = new ServerBootstrap()
                .group(loop)
                .channel(epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        pipeline.accept(channel);
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) acceptor.localAddress();
    }

    RawHttp connect() throws IOException {
        return new RawHttp(address().getPort());
    }

    void stopAccepting() {
        if (acceptor.isOpen()) {
            acceptor.close().syncUninterruptibly();
        }
    }

    @Override
    public void close() {
        stopAccepting();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
