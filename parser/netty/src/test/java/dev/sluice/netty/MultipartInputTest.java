package dev.sluice.netty;

import static java.util.concurrent.CompletableFuture.completedStage;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.testkit.CountingAllocator;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MultipartInputTest {
    private final CountingAllocator buffers = new CountingAllocator();
    private final CompletableFuture<String> answer = new CompletableFuture<>();

    private static ChannelFuture send(Channel channel, MultipartBody body) {
        // @start region="send"
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/upload");
        request.headers().set(HttpHeaderNames.CONTENT_TYPE, body.contentType());
        if (body.contentLength().isPresent()) {
            request.headers()
                    .set(HttpHeaderNames.CONTENT_LENGTH, body.contentLength().getAsLong());
        } else {
            request.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        channel.write(request);
        return channel.writeAndFlush(new HttpChunkedInput(new MultipartInput(body)));
        // @end
    }

    private Channel connect(NettyServer server, boolean http2) {
        SimpleChannelInboundHandler<FullHttpResponse> reader = new SimpleChannelInboundHandler<>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
                answer.complete(response.content().toString(StandardCharsets.UTF_8));
            }
        };
        Channel connection = new Bootstrap()
                .group(server.loop)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.config().setAllocator(buffers);
                        if (http2) {
                            channel.pipeline()
                                    .addLast(
                                            Http2FrameCodecBuilder.forClient().build(),
                                            new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                        } else {
                            channel.pipeline()
                                    .addLast(
                                            new HttpClientCodec(),
                                            new ChunkedWriteHandler(),
                                            new HttpObjectAggregator(1024),
                                            reader);
                        }
                    }
                })
                .connect(server.address())
                .syncUninterruptibly()
                .channel();
        return !http2
                ? connection
                : new Http2StreamChannelBootstrap(connection)
                        .handler(new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.pipeline()
                                        .addLast(
                                                new Http2StreamFrameToHttpObjectCodec(false),
                                                new ChunkedWriteHandler(),
                                                new HttpObjectAggregator(1024),
                                                reader);
                            }
                        })
                        .open()
                        .syncUninterruptibly()
                        .getNow();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void body_isReceivedByTheHandler(boolean http2) throws Exception {
        byte[] file = new byte[3_000_000];
        MultipartBody body = MultipartBody.builder()
                .field("title", "Sea")
                .file("bytes", "b", "a/b", Content.of(file))
                .file(
                        "stream",
                        "c",
                        "a/b",
                        Content.stream(() -> new ByteArrayInputStream(file)).withLength(file.length))
                .build();
        Forms forms = Forms.of(FormOptions.inMemory(MemoryBudget.of(64 << 20))
                .maxInMemoryBytes(16 << 20)
                .build());
        MultipartHandlers handlers = MultipartHandlers.onEventLoop(
                        forms,
                        request -> (form, trailers) -> completedStage(Upload.text(
                                200,
                                form.text("title") + " " + form.file("bytes").size() + " "
                                        + form.file("stream").size())))
                .build();
        try (NettyServer server = new NettyServer(NettyServer.Transport.NIO, channel -> {
            if (http2) {
                channel.pipeline()
                        .addLast(
                                Http2FrameCodecBuilder.forServer().build(),
                                new Http2MultiplexHandler(new ChannelInitializer<>() {
                                    @Override
                                    protected void initChannel(Channel stream) {
                                        stream.pipeline()
                                                .addLast(
                                                        new Http2StreamFrameToHttpObjectCodec(true),
                                                        handlers.newHandler());
                                    }
                                }));
            } else {
                channel.pipeline().addLast(new HttpServerCodec(), handlers.newHandler());
            }
        })) {
            send(connect(server, http2), body).sync();
            assertEquals("Sea 3000000 3000000", answer.get(2, TimeUnit.MINUTES));
        }
        assertEquals(List.of(), buffers.unreleased());
    }

    @Test
    void input_knowsItsLengthAndProgress() throws IOException {
        MultipartBody body = MultipartBody.builder().field("a", "b").build();
        MultipartInput input = new MultipartInput(body);
        assertFalse(input.isEndOfInput());
        ByteBuf chunk = input.readChunk(buffers);
        int size = chunk.readableBytes();
        chunk.release();
        assertEquals(size, input.length());
        assertEquals(size, input.progress());
        assertTrue(input.isEndOfInput());
        MultipartBody unknown = MultipartBody.builder()
                .field("a", "b/c", Content.stream(() -> new ByteArrayInputStream(new byte[1])))
                .build();
        assertEquals(-1, new MultipartInput(unknown).length());
        new MultipartInput(unknown).close();
    }

    @Test
    void failureOfAPart_failsTheWrite() {
        MultipartBody body = MultipartBody.builder()
                .field(
                        "a",
                        "b/c",
                        Content.stream(() -> new ByteArrayInputStream(new byte[1]))
                                .withLength(2))
                .build();
        EmbeddedChannel channel = new EmbeddedChannel(new ChunkedWriteHandler());
        ChannelFuture written = channel.writeAndFlush(new HttpChunkedInput(new MultipartInput(body)));
        channel.runPendingTasks();
        assertInstanceOf(IOException.class, written.cause());
        assertTrue(written.cause().getMessage().startsWith("part 0 \"a\" ended 1 bytes before"));
        channel.finishAndReleaseAll();
    }
}
