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
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
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
        SimpleChannelInboundHandler<FullHttpResponse> reader = new SimpleChannelInboundHandler<>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
                answer.complete(response.content().toString(StandardCharsets.UTF_8));
            }
        };
        try (NettyServer server = HttpChannels.server(handlers, http2)) {
            Channel channel = HttpChannels.connect(
                    server, http2, buffers, new ChunkedWriteHandler(), new HttpObjectAggregator(1024), reader);
            send(channel, body).sync();
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
