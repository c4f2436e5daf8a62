package dev.sluice.samples.upload.readme;

import static java.util.concurrent.CompletableFuture.completedStage;

import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.netty.FormReceiver;
import dev.sluice.netty.FormRoute;
import dev.sluice.netty.MultipartHandlers;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** A server that stores uploaded photos in a directory. */
public final class NettyUploads {
    private final Path directory;

    NettyUploads(Path directory) {
        this.directory = directory;
    }

    public static void main(String[] args) throws IOException {
        new NettyUploads(Files.createDirectories(Path.of("photos"))).start(8080, Forms.open());
    }

    Channel start(int port, Forms forms) {
        var loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory()); // Netty 4.1: new NioEventLoopGroup()
        var server = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class);
        var pages = new Pages();
        Executor workers = Executors.newCachedThreadPool(); // files are written on these threads
        // @start region="pipeline"
        FormReceiver upload = (form, trailers) -> completedStage(answer(form));
        FormRoute route =
                request -> new QueryStringDecoder(request.uri()).rawPath().equals("/upload") ? upload : null;
        var handlers = MultipartHandlers.builder(forms, route, workers).build(); // one per process
        server.childHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) { // "pages" handles requests for other paths
                channel.pipeline().addLast(new HttpServerCodec(), handlers.newHandler(), pages);
            }
        });
        // @end
        return server.bind(port).syncUninterruptibly().channel();
    }

    private FullHttpResponse answer(MultipartForm form) throws IOException {
        List<FormPart> photos = form.files("photo"); // empty if the user chose no file
        for (FormPart photo : photos) {
            photo.moveTo(directory.resolve(UUID.randomUUID() + ".jpg"));
        }
        return response(HttpResponseStatus.OK, photos.size() + " photos stored");
    }

    private static FullHttpResponse response(HttpResponseStatus status, String text) {
        return new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, status, Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
    }

    /** Answers all requests that are not forms. */
    @Sharable
    private static final class Pages extends SimpleChannelInboundHandler<HttpObject> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
            if (message instanceof HttpRequest) {
                FullHttpResponse response = response(HttpResponseStatus.NOT_FOUND, "not found");
                response.headers().set("Content-Length", response.content().readableBytes());
                ctx.writeAndFlush(response);
            }
        }
    }
}
