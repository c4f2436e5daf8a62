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
 * A configurer and filter that lets Sluice read the forms of a WebFlux application. Define it as a bean, once. As a
 * configurer it adds two readers, one for {@code Part} and {@code MultiValueMap<String, Part>}, and one for {@code
 * PartEvent}. As a filter it deletes the parts at the end of each request. Spring itself would keep them after the
 * client disconnects.
 *
 * <p>Parts are available once the whole form has arrived and was accepted. They are kept in memory, or beyond a
 * threshold in files, written by threads of {@code Schedulers.boundedElastic()}. Events are emitted as the bytes arrive
 * and as the subscriber requests them. Their buffers are on the heap, so an operator that discards them leaks nothing.
 * The decider of the options is not called for events. A refused form arrives as a {@link
 * org.springframework.web.server.ResponseStatusException} with the status of the {@link dev.sluice.MultipartException}
 * that is its cause; its {@code ProblemDetail} names the limit.
 *
 * <p>Thread-safe.
 */
public final class SluiceWebFlux implements WebFluxConfigurer, WebFilter, Ordered {
    private static final String MULTIPART = "multipart/";

    private final Forms forms;
    private final boolean refusesOthers;

    private SluiceWebFlux(Forms forms, boolean refusesOthers) {
        this.forms = forms;
        this.refusesOthers = refusesOthers;
    }

    /** {@return a bean that receives forms by {@code options}, and refuses other multipart bodies with 415} */
    public static SluiceWebFlux of(FormOptions options) {
        return new SluiceWebFlux(Forms.of(options), true);
    }

    /**
     * {@return a bean that receives forms by {@code options}, and leaves other multipart bodies to Spring, which does
     * not have these limits}
     */
    public static SluiceWebFlux onlyForms(FormOptions options) {
        return new SluiceWebFlux(Forms.of(options), false);
    }

    /** {@return the highest precedence: this filter comes first, and the application can still replace its readers} */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void configureHttpMessageCodecs(ServerCodecConfigurer configurer) {
        configurer
                .defaultCodecs()
                .multipartReader(new PartReader(forms, refusesOthers)); // ServerWebExchange uses the last reader
        configurer.customCodecs().register(new PartEventReader(forms, refusesOthers)); // controllers use the first
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        String type = exchange.getRequest().getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
        if (type == null || !type.regionMatches(true, 0, MULTIPART, 0, MULTIPART.length())) {
            return chain.filter(exchange);
        }
        Disposable.Composite resources = Disposables.composite();
        return chain.filter(exchange)
                .doFinally(signal -> resources.dispose())
                .contextWrite(Context.of(SluiceWebFlux.class, resources));
    }

    /** Disposes {@code resource} when the request ends, or now if it has ended. Does nothing without the filter. */
    static void endWithRequest(ContextView context, Disposable resource) {
        context.<Disposable.Composite>getOrEmpty(SluiceWebFlux.class).ifPresent(resources -> resources.add(resource));
    }
}
