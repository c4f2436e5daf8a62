package dev.sluice.samples.upload;

import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.Page;
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
import io.netty.handler.codec.http.QueryStringDecoder;

/** A handler for all requests other than forms. After the response to a request with a body, the connection is closed. */
@ChannelHandler.Sharable
final class OtherRequests extends SimpleChannelInboundHandler<HttpObject> {
    private final ServerMetrics metrics;
    private final Page page;

    OtherRequests(ServerMetrics metrics, Page page) {
        this.metrics = metrics;
        this.page = page;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
        if (message instanceof HttpRequest request) {
            FullHttpResponse response = response(request);
            if (HttpMethod.HEAD.equals(request.method())) {
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

    private FullHttpResponse response(HttpRequest request) {
        ErrorResponse fault = RequestHead.fault(request);
        if (fault != null) {
            return Responses.rejection(metrics, fault, fault.asResponse());
        }
        QueryStringDecoder uri = new QueryStringDecoder(request.uri());
        String method = HttpMethod.HEAD.equals(request.method())
                ? "GET"
                : request.method().name();
        return switch (method + " " + uri.path()) {
            case "GET /" -> Responses.page(page);
            case "GET /metrics" -> Responses.metrics(metrics);
            default -> Responses.notThis(uri.path());
        };
    }
}
