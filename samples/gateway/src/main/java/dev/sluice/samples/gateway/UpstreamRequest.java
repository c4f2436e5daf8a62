package dev.sluice.samples.gateway;

import dev.sluice.form.OutgoingForm;
import dev.sluice.netty.FormWriter;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A request that sends one form to the upstream, on its own connection. */
final class UpstreamRequest extends SimpleChannelInboundHandler<FullHttpResponse> {
    private static final int MAX_RESPONSE_BYTES = 1 << 20;
    private static final int RESPONSE_SECONDS = 60;

    record Response(int status, String contentType, byte[] body) {}

    private final OutgoingForm form;
    private final CompletableFuture<Response> response = new CompletableFuture<>();

    private UpstreamRequest(OutgoingForm form) {
        this.form = form;
    }

    // @start region="send"
    /** Connects and sends the form. */
    static UpstreamRequest send(Bootstrap client, URI target, OutgoingForm form) {
        UpstreamRequest request = new UpstreamRequest(form);
        ChannelFuture connecting = client.clone()
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(new HttpClientCodec(), new HttpObjectAggregator(MAX_RESPONSE_BYTES), request);
                    }
                })
                .connect(target.getHost(), target.getPort() < 0 ? 80 : target.getPort());
        connecting.addListener(connected -> {
            if (connected.isSuccess()) {
                connecting.channel().write(head(target, form.contentType()));
                FormWriter.write(form, connecting.channel());
            } else {
                request.fail("the upstream cannot be reached", connected.cause());
            }
        });
        return request;
    }

    private static HttpRequest head(URI target, String contentType) {
        String path = target.getRawPath().isEmpty() ? "/" : target.getRawPath();
        String query = target.getRawQuery() == null ? "" : "?" + target.getRawQuery();
        HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, path + query);
        head.headers()
                .set(HttpHeaderNames.HOST, target.getRawAuthority())
                .set(HttpHeaderNames.CONTENT_TYPE, contentType)
                .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        return head;
    }
    // @end

    /** {@return the response to the whole form; fails with an {@link UpstreamException} or a {@link java.util.concurrent.TimeoutException}} */
    CompletableFuture<Response> response() {
        return response.orTimeout(RESPONSE_SECONDS, TimeUnit.SECONDS);
    }

    private void fail(String message, @Nullable Throwable cause) {
        UpstreamException failure = new UpstreamException(message, cause);
        form.abort(failure);
        response.completeExceptionally(failure);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse message) {
        if (message.decoderResult().isFailure() || message.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
            fail("the upstream sent malformed HTTP", message.decoderResult().cause());
            return;
        } else if (message.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
            return; // another response follows
        }
        Response received = new Response(
                message.status().code(),
                message.headers().get(HttpHeaderNames.CONTENT_TYPE, "application/octet-stream"),
                ByteBufUtil.getBytes(message.content()));
        form.abort(new UpstreamException(received)); // has no effect if the form is complete
        response.complete(received);
        ctx.close();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        response.whenComplete((received, failure) -> ctx.close());
        ctx.fireChannelActive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail("the connection to the upstream failed", cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        fail("the upstream closed the connection without a response", null);
    }
}
