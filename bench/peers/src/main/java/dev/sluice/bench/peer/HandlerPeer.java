package dev.sluice.bench.peer;

import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.form.Forms;
import dev.sluice.netty.MultipartHandlers;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;

/** Sluice's handler for Netty in an embedded channel, which processes one request after the other on the calling thread. */
final class HandlerPeer implements Peer {
    private final String contentType;
    private final ByteBufChunks chunks;
    private final EmbeddedChannel connection;
    private Tally tally = Tally.counting();

    HandlerPeer(Body body, int chunkSize, Memory memory) {
        contentType = body.contentType();
        chunks = new ByteBufChunks(body.cut(chunkSize), memory);
        connection = new EmbeddedChannel(MultipartHandlers.onEventLoop(
                        Forms.of(ServletPeer.options(body)),
                        request -> new HandledForm(tally, () -> Unpooled.EMPTY_BUFFER))
                .build()
                .newHandler());
    }

    @Override
    public void run(Tally target) throws IOException {
        tally = target;
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
        request.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType);
        connection.writeInbound(request);
        int count = chunks.count();
        for (int i = 0; i < count; i++) {
            connection.writeInbound(new DefaultHttpContent(chunks.next(i)));
        }
        connection.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        FullHttpResponse response = connection.readOutbound();
        if (response == null || !response.status().equals(HttpResponseStatus.OK)) {
            throw new IOException("The handler responded: " + response);
        }
        response.release();
    }

    @Override
    public void close() {
        connection.finishAndReleaseAll();
        chunks.close();
    }
}
