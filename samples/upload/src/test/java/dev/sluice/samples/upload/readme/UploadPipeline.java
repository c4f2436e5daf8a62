package dev.sluice.samples.upload.readme;

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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executor;

/** The Netty server of the guide, embedded in a complete class. */
final class UploadPipeline {
    /** The handler for all other requests. */
    @ChannelHandler.Sharable
    private static final class Pages extends SimpleChannelInboundHandler<HttpObject> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
            if (message instanceof HttpRequest) {
                FullHttpResponse page = text("a page");
                page.headers()
                        .set(HttpHeaderNames.CONTENT_LENGTH, page.content().readableBytes());
                ctx.writeAndFlush(page);
            }
        }
    }

    private final ChannelHandler pages = new Pages();
    private final ServerBootstrap server;

    UploadPipeline(Forms forms, EventLoopGroup loops, Executor workers) {
        server = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class);
        // @start region="pipeline"
        FormReceiver upload = (form, trailers) -> completedStage(answer(form));
        FormRoute route =
                request -> new QueryStringDecoder(request.uri()).path().equals("/upload") ? upload : null;
        var handlers = MultipartHandlers.builder(forms, route, workers).build(); // one per process
        server.childHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) { // "pages" handles requests for other paths
                channel.pipeline().addLast(new HttpServerCodec(), handlers.newHandler(), pages);
            }
        });
        // @end
    }

    private static FullHttpResponse answer(MultipartForm form) {
        return text("parts: " + form.parts().size());
    }

    private static FullHttpResponse text(String text) {
        return new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
    }

    InetSocketAddress start() {
        Channel acceptor = server.bind("localhost", 0).syncUninterruptibly().channel();
        return (InetSocketAddress) acceptor.localAddress();
    }
}
