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
        } else if (!HttpMethod.GET.equals(request.method())) {
            return Responses.text(405, "send forms to /upload with POST");
        }
        return switch (request.uri()) {
            case "/" -> Responses.page("text/html; charset=utf-8", page.get().getBytes(StandardCharsets.UTF_8));
            case "/page.css" -> Responses.page("text/css; charset=utf-8", style);
            default -> Responses.text(404, "unknown path: the paths are / and /upload");
        };
    }
}
