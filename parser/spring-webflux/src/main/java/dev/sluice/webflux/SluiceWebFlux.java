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
 * Takes the forms of an application with WebFlux: to be defined as a bean, once. As a configurer it adds the readers, one of
 * {@code Part} and {@code MultiValueMap<String, Part>} and one of {@code PartEvent}; as a filter it ends what a request has
 * begun, however that ends: where a client leaves, Spring deletes no parts.
 *
 * <p>Parts are there once the whole form has come and was found good: they are kept in memory and beyond a threshold in
 * files, by threads of {@code Schedulers.boundedElastic()}. Events come as the bytes do, as many as are requested; their
 * buffers are on the heap, so that those which an operator drops leak nothing, and the decider of the options is not asked:
 * whoever takes events decides. What is refused arrives as a {@link org.springframework.web.server.ResponseStatusException}
 * with the status of the {@link dev.sluice.MultipartException} that is its cause; the {@code ProblemDetail} of it names the
 * limit.
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

    /** {@return what takes forms by {@code options}, and refuses other multipart bodies with 415} */
    public static SluiceWebFlux of(FormOptions options) {
        return new SluiceWebFlux(Forms.of(options), true);
    }

    /** {@return what takes forms by {@code options}, and leaves other multipart bodies to Spring, which does not know these limits} */
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
