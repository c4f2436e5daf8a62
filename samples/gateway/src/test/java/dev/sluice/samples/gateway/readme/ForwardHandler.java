package dev.sluice.samples.gateway.readme;

import dev.sluice.NameEscaping;
import dev.sluice.form.OutgoingForm;
import dev.sluice.form.PartDecision;
import dev.sluice.webflux.SluiceWebFlux;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.net.URI;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Forwards forms with {@code WebClient}, without the field {@code csrf}. */
record ForwardHandler(WebClient client, SluiceWebFlux sluice, URI upstream) implements HandlerFunction<ServerResponse> {
    private static final NettyDataBufferFactory BUFFERS = new NettyDataBufferFactory(UnpooledByteBufAllocator.DEFAULT);

    // @start region="forward"
    @Override
    public Mono<ServerResponse> handle(ServerRequest request) {
        OutgoingForm out = OutgoingForm.create(NameEscaping.REPLACE, UnpooledByteBufAllocator.DEFAULT);
        Mono<ServerResponse> answer = client.post()
                .uri(upstream)
                .header("Content-Type", out.contentType())
                .body(BodyInserters.fromDataBuffers(body(out)))
                .exchangeToMono(received -> received.bodyToMono(byte[].class)
                        .defaultIfEmpty(new byte[0])
                        .flatMap(content -> ServerResponse.status(received.statusCode())
                                .headers(headers ->
                                        received.headers().contentType().ifPresent(headers::setContentType))
                                .bodyValue(content)));
        return Mono.firstWithSignal(answer, rejection(sluice, request.exchange().getRequest(), out));
    }

    /** {@return the body of the outgoing request} If the form is rejected, the request is cancelled. */
    static Flux<DataBuffer> body(OutgoingForm out) {
        return JdkFlowAdapter.flowPublisherToFlux(out)
                .<DataBuffer>map(BUFFERS::wrap)
                .onErrorResume(failure -> Mono.never());
    }

    /** Receives the form. {@return the rejection of the form, or nothing} */
    static <T> Mono<T> rejection(SluiceWebFlux sluice, ServerHttpRequest request, OutgoingForm out) {
        return sluice.form(
                        request,
                        options -> out.options(
                                options,
                                part -> part.name().equals("csrf")
                                        ? PartDecision.skip()
                                        : PartDecision.to(out.part(part))))
                .onErrorComplete(IOException.class) // if a connection is lost, the response fails too
                .then(Mono.never());
    }
    // @end
}
