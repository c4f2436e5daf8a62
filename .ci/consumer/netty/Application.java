package org.example;

import static java.util.concurrent.CompletableFuture.completedStage;

import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.netty.FormReceiver;
import dev.sluice.netty.FormRoute;
import dev.sluice.netty.MultipartHandlers;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server with the pipeline of the README, and an upload to it. */
public class Application {
    public static void main(String[] args) throws Exception {
        EventLoopGroup loops = new NioEventLoopGroup();
        ExecutorService workers = Executors.newCachedThreadPool();
        ChannelHandler pages = new Pages();
        try (Forms forms = Forms.open()) {
            ServerBootstrap server = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class);
            // README
            Channel acceptor = server.bind("127.0.0.1", 0).sync().channel();
            URI root = URI.create("http://127.0.0.1:" + ((InetSocketAddress) acceptor.localAddress()).getPort());
            Uploading.expect(root.resolve("/upload"), 100_000, 200, "parts: 2");
            loops.shutdownGracefully().sync();
        }
        workers.shutdown();
    }

    @ChannelHandler.Sharable
    private static final class Pages extends ChannelInboundHandlerAdapter {}

    private static FullHttpResponse answer(MultipartForm form) {
        return new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.OK,
                Unpooled.copiedBuffer("parts: " + form.parts().size(), StandardCharsets.UTF_8));
    }
}
