package dev.sluice.samples.gateway.readme;

import dev.sluice.NameEscaping;
import dev.sluice.form.OutgoingForm;
import dev.sluice.webflux.SluiceWebFlux;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

// @start region="filter"
record ForwardGatewayFilter(SluiceWebFlux sluice) implements GatewayFilter {
    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        OutgoingForm out = OutgoingForm.create(NameEscaping.REPLACE, UnpooledByteBufAllocator.DEFAULT);
        HttpHeaders headers = new HttpHeaders();
        headers.putAll(exchange.getRequest().getHeaders());
        headers.remove(HttpHeaders.CONTENT_LENGTH);
        headers.set(HttpHeaders.CONTENT_TYPE, out.contentType());
        ServerHttpRequestDecorator outgoing = new ServerHttpRequestDecorator(exchange.getRequest()) {
            @Override
            public HttpHeaders getHeaders() {
                return headers;
            }

            @Override
            public Flux<DataBuffer> getBody() {
                return ForwardHandler.body(out);
            }
        };
        Mono<Void> answer = chain.filter(exchange.mutate().request(outgoing).build())
                .onErrorMap(IOException.class, lost -> new ResponseStatusException(HttpStatus.BAD_GATEWAY, null, lost));
        return Mono.firstWithSignal(answer, ForwardHandler.rejection(sluice, exchange.getRequest(), out));
    }
}
// @end
