package dev.sluice.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.util.function.Consumer;

/** Channels of a client and a server for one request, over HTTP/1.1 or HTTP/2. */
final class HttpChannels {
    private HttpChannels() {}

    static NettyServer server(MultipartHandlers handlers, boolean http2) {
        return new NettyServer(NettyServer.Transport.NIO, channel -> {
            if (http2) {
                channel.pipeline()
                        .addLast(
                                Http2FrameCodecBuilder.forServer().build(),
                                new Http2MultiplexHandler(initializer(stream -> stream.pipeline()
                                        .addLast(new Http2StreamFrameToHttpObjectCodec(true), handlers.newHandler()))));
            } else {
                channel.pipeline().addLast(new HttpServerCodec(), handlers.newHandler());
            }
        });
    }

    /** {@return a connection or a stream whose pipeline ends with {@code handlers}} */
    static Channel connect(NettyServer server, boolean http2, ByteBufAllocator buffers, ChannelHandler... handlers) {
        Channel connection = connect(server, channel -> {
            channel.config().setAllocator(buffers);
            if (http2) {
                multiplex(channel);
            } else {
                channel.pipeline().addLast(new HttpClientCodec()).addLast(handlers);
            }
        });
        return !http2
                ? connection
                : new Http2StreamChannelBootstrap(connection)
                        .handler(initializer(stream -> stream.pipeline()
                                .addLast(new Http2StreamFrameToHttpObjectCodec(false))
                                .addLast(handlers)))
                        .open()
                        .syncUninterruptibly()
                        .getNow();
    }

    private static Channel connect(NettyServer server, Consumer<Channel> pipeline) {
        return new Bootstrap()
                .group(server.loop)
                .channel(NioSocketChannel.class)
                .handler(initializer(pipeline))
                .connect(server.address())
                .syncUninterruptibly()
                .channel();
    }

    /** {@return an HTTP/2 connection, on which the caller can open streams} */
    static Channel connectHttp2(NettyServer server) {
        return connect(server, HttpChannels::multiplex);
    }

    private static void multiplex(Channel client) {
        client.pipeline()
                .addLast(
                        Http2FrameCodecBuilder.forClient().build(),
                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
    }

    static ChannelInitializer<Channel> initializer(Consumer<Channel> pipeline) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                pipeline.accept(channel);
            }
        };
    }
}
