package dev.sluice.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A server on one event loop of NIO. */
final class NettyServer implements AutoCloseable {
    static final String LOOP = "event-loop";

    @SuppressWarnings("deprecation") // what takes its place there is not in Netty 4.1
    final EventLoopGroup loop = new NioEventLoopGroup(1, new DefaultThreadFactory(LOOP));

    private final Channel acceptor;

    NettyServer(Consumer<Channel> pipeline) {
        acceptor = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
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

    Socket connect() throws IOException {
        Socket socket = new Socket(address().getAddress(), address().getPort());
        socket.setSoTimeout(20_000);
        return socket;
    }

    static void send(Socket to, String text) throws IOException {
        to.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    void stopAccepting() {
        acceptor.close().syncUninterruptibly();
    }

    @Override
    public void close() {
        stopAccepting();
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
