package dev.sluice.spring;

import dev.sluice.MultipartException;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * A handler that sends a {@code ProblemDetail} for a rejected form, unless the application handles the rejection. The
 * detail names the limit. If the client prefers HTML, as browsers do, Boot sends the error page of the application.
 *
 * @param codecs the source of the codecs; called on demand, because an application without WebFlux configuration has no
 *     codecs
 */
record WebFluxRejectionHandler(Supplier<ServerCodecConfigurer> codecs)
        implements WebExceptionHandler, ServerResponse.Context {
    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        if (!(failure instanceof ResponseStatusException rejected)
                || !(rejected.getCause() instanceof MultipartException)
                || exchange.getResponse().isCommitted()
                || ErrorPages.isPreferred(accepted(exchange))) {
            return Mono.error(failure);
        }
        return ServerResponse.status(rejected.getStatusCode())
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .bodyValue(rejected.getBody())
                .flatMap(response -> response.writeTo(exchange, this));
    }

    private static List<String> accepted(ServerWebExchange exchange) {
        return exchange.getRequest().getHeaders().getValuesAsList(HttpHeaders.ACCEPT);
    }

    @Override
    public List<HttpMessageWriter<?>> messageWriters() {
        return codecs.get().getWriters();
    }

    @Override
    public List<ViewResolver> viewResolvers() {
        return List.of();
    }
}
