package dev.sluice.samples.netty;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;

/** A handler for all requests other than forms. After the response to a request with a body, the connection is closed. */
@ChannelHandler.Sharable
final class OtherRequests extends SimpleChannelInboundHandler<HttpObject> {
    private final Protocols.Others others;

    OtherRequests(Protocols.Others others) {
        this.others = others;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
        if (message instanceof HttpRequest request) {
            boolean head = HttpMethod.HEAD.equals(request.method());
            FullHttpResponse response =
                    others.respond(request, head ? "GET" : request.method().name());
            if (head) {
                response.content().clear(); // required for HTTP/2; the codec of HTTP/1.1 does this itself
            }
            if (request.decoderResult().isSuccess()
                    && (HttpUtil.getContentLength(request, 0L) > 0 || HttpUtil.isTransferEncodingChunked(request))) {
                // Closing is cheaper than reading the body.
                response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
            }
            ctx.writeAndFlush(response);
        }
    }
}
