package dev.sluice.samples.gateway;

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
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** A handler for all requests other than forms: the page and its style. */
@ChannelHandler.Sharable
final class OtherRequests extends SimpleChannelInboundHandler<HttpObject> {
    private final Supplier<String> page;
    private final byte[] style;

    OtherRequests(Supplier<String> page) {
        this.page = page;
        try (InputStream in = OtherRequests.class.getResourceAsStream("page.css")) {
            style = in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
                response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE); // the body is not read
            }
            ctx.writeAndFlush(response);
        }
    }

    private FullHttpResponse response(HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            return Responses.text(400, "the request is malformed HTTP");
        }
        String path = new QueryStringDecoder(request.uri()).rawPath();
        String method = HttpMethod.HEAD.equals(request.method())
                ? "GET"
                : request.method().name();
        return switch (method + " " + path) {
            case "GET /" ->
                Responses.page("text/html; charset=utf-8", page.get().getBytes(StandardCharsets.UTF_8));
            case "GET /page.css" -> Responses.page("text/css; charset=utf-8", style);
            default -> Responses.notThis(path);
        };
    }
}
