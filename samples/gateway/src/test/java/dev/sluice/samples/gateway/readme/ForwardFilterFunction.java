package dev.sluice.samples.gateway.readme;

import dev.sluice.FormRelay;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.NameEscaping;
import io.netty.buffer.UnpooledByteBufAllocator;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.web.client.RestClientException;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

// @start region="filter"
final class ForwardFilterFunction implements HandlerFilterFunction<ServerResponse, ServerResponse> {
    private final MultipartOptions options = MultipartOptions.builder()
            .allocator(new UnpooledByteBufAllocator(false)) // heap buffers: an abandoned request leaks nothing
            .maxBodyBytes(64 << 20)
            .build();

    @Override
    public ServerResponse filter(ServerRequest request, HandlerFunction<ServerResponse> next) throws Exception {
        HttpHeaders headers = request.headers().asHttpHeaders();
        if (headers.containsHeader(HttpHeaders.CONTENT_ENCODING)) {
            return ServerResponse.status(415).build();
        }
        try {
            FormRelay relay = FormRelay.create(
                    headers.getFirst(HttpHeaders.CONTENT_TYPE),
                    options,
                    NameEscaping.REPLACE,
                    part -> part.name().equals("csrf") ? null : FormRelay.Part.of(part));
            RelayedBody body =
                    new RelayedBody(relay.inputStream(request.servletRequest().getInputStream()));
            HttpServletRequestWrapper relayed = new HttpServletRequestWrapper(request.servletRequest()) {
                @Override
                public ServletInputStream getInputStream() {
                    return body;
                }
            };
            ServerRequest outgoing = ServerRequest.create(relayed, request.messageConverters());
            return next.handle(ServerRequest.from(outgoing)
                    .headers(changed -> changed.remove(HttpHeaders.CONTENT_LENGTH))
                    .headers(changed -> changed.set(HttpHeaders.CONTENT_TYPE, relay.contentType()))
                    .attributes(attributes -> attributes.putAll(request.attributes()))
                    .build());
        } catch (MultipartException | RestClientException e) {
            Throwable cause = NestedExceptionUtils.getMostSpecificCause(e);
            int status = cause instanceof MultipartException rejected ? rejected.httpStatus() : 502;
            return ServerResponse.status(status).build();
        }
    }
}
// @end
