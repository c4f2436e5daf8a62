package dev.sluice.webflux;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Receives the forms of a WebFlux application: define it as a bean, once. As a configurer it adds two readers, one for
 * {@code Part} and {@code MultiValueMap<String, Part>}, and one for {@code PartEvent}. As a filter it cleans up at the end of
 * each request, however that ends: when a client disconnects, Spring does not delete the parts.
 *
 * <p>Parts are available once the whole form has arrived and was accepted. They are kept in memory, or beyond a threshold in
 * files, written by threads of {@code Schedulers.boundedElastic()}. Events are emitted as the bytes arrive, as many as are
 * requested. Their buffers are on the heap, so an operator that drops them leaks nothing. The decider of the options is not
 * asked about events. A refused form arrives as a {@link org.springframework.web.server.ResponseStatusException} with the
 * status of the {@link dev.sluice.MultipartException} that is its cause; its {@code ProblemDetail} names the limit.
 *
 * <p>Thread-safe.
 */
public final class SluiceWebFlux implements WebFluxConfigurer, WebFilter, Ordered {
    private static final String MULTIPART = "multipart/";

    private final Forms forms;
    private final boolean takesAll;

    private SluiceWebFlux(Forms forms, boolean takesAll) {
        this.forms = forms;
        this.takesAll = takesAll;
    }

    /** {@return a bean that receives forms by {@code options}, and refuses other multipart bodies with 415} */
    public static SluiceWebFlux of(FormOptions options) {
        return new SluiceWebFlux(Forms.of(options), true);
    }

    /** {@return a bean that receives forms by {@code options}, and leaves other multipart bodies to Spring, which does not have these limits} */
    public static SluiceWebFlux onlyForms(FormOptions options) {
        return new SluiceWebFlux(Forms.of(options), false);
    }

    /** As a filter first of all; what the application configures comes later. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void configureHttpMessageCodecs(ServerCodecConfigurer configurer) {
        configurer
                .defaultCodecs()
                .multipartReader(new PartReader(forms, takesAll)); // an exchange takes the last that there is
        configurer.customCodecs().register(new PartEventReader(forms, takesAll)); // a controller the first
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        String type = exchange.getRequest().getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
        if (type == null || !type.regionMatches(true, 0, MULTIPART, 0, MULTIPART.length())) {
            return chain.filter(exchange);
        }
        Disposable.Composite begun = Disposables.composite();
        return chain.filter(exchange)
                .doFinally(signal -> begun.dispose())
                .contextWrite(Context.of(SluiceWebFlux.class, begun));
    }

    /** Has {@code begun} disposed of when the request ends, or now if it has; not at all where there is no filter. */
    static void endWithRequest(ContextView context, Disposable begun) {
        context.<Disposable.Composite>getOrEmpty(SluiceWebFlux.class).ifPresent(all -> all.add(begun));
    }
}
