package dev.sluice.webflux;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * A configurer and filter that lets Sluice read the forms of a WebFlux application. Define it as a bean, once. As a
 * configurer it adds two readers, one for {@code Part} and {@code MultiValueMap<String, Part>}, and one for {@code
 * PartEvent}. As a filter it deletes the parts at the end of each request. Spring itself does not delete them if the
 * client disconnects.
 *
 * <p>Parts are available once the whole form has arrived and was accepted. They are kept in memory or, if they exceed a
 * threshold, in files that threads of {@code Schedulers.boundedElastic()} write. Events are emitted as the bytes arrive
 * and as the subscriber requests them. Their buffers are on the heap, so an operator that discards them leaks nothing.
 * The decider of the options is not called for events. The rejection of a form is signalled as a {@link
 * org.springframework.web.server.ResponseStatusException} with the status of its cause, a {@link
 * dev.sluice.MultipartException}. The {@code ProblemDetail} names the limit.
 *
 * <p>Thread-safe.
 */
public final class SluiceWebFlux implements WebFluxConfigurer, WebFilter, Ordered {
    private static final String MULTIPART = "multipart/";

    private final Forms forms;
    private final boolean rejectsOthers;

    private SluiceWebFlux(Forms forms, boolean rejectsOthers) {
        this.forms = forms;
        this.rejectsOthers = rejectsOthers;
    }

    /** {@return a bean that receives forms with {@code options}, and rejects other multipart bodies with 415} */
    public static SluiceWebFlux of(FormOptions options) {
        return new SluiceWebFlux(Forms.of(options), true);
    }

    /**
     * {@return a bean that receives forms with {@code options}, and leaves other multipart bodies to Spring, which
     * applies its own limits instead}
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
                .multipartReader(new PartReader(forms, rejectsOthers)); // ServerWebExchange uses the last reader
        configurer.customCodecs().register(new PartEventReader(forms, rejectsOthers)); // controllers use the first
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        if (!isMultipart(exchange.getRequest())) {
            return chain.filter(exchange);
        }
        Disposable.Composite resources = Disposables.composite();
        return chain.filter(exchange)
                .doFinally(signal -> resources.dispose())
                .contextWrite(Context.of(SluiceWebFlux.class, resources));
    }

    private static boolean isMultipart(ServerHttpRequest request) {
        String type = request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
        return type != null && type.regionMatches(true, 0, MULTIPART, 0, MULTIPART.length());
    }

    /**
     * {@return the form of a request, received with its own options} Use it in place of parameters of the type {@code
     * Part}: the body can be read only once. The form is closed when the request ends. Sinks run on the threads of
     * {@code Schedulers.boundedElastic()}. A rejection is signalled with the same exception as for parts.
     *
     * <p>The filter signals the end of the request to this method through the Reactor context. Therefore return the
     * {@code Mono} from the handler of the request. If the {@code Mono} is subscribed elsewhere, for example by {@code
     * block()}, or if the request has not passed the filter, it fails with an {@link IllegalStateException} and leaves
     * the body unread.
     *
     * @param change changes the options of this bean for the request: a {@link FormOptions.Builder#decider}, limits, a
     *     progress listener
     */
    public Mono<MultipartForm> form(ServerHttpRequest request, UnaryOperator<FormOptions.Builder> change) {
        return Mono.deferContextual(context -> {
                    if (isMultipart(request) && !context.hasKey(SluiceWebFlux.class)) {
                        return Mono.error(new IllegalStateException("Nothing would close the form: its request has not"
                                + " passed the filter of SluiceWebFlux, or the Mono is not subscribed by the handler"
                                + " of the request. Define SluiceWebFlux as a bean, and return the Mono."));
                    }
                    FormOptions options =
                            change.apply(forms.options().toBuilder()).build();
                    return SluiceWebFlux.<MultipartForm>receive(forms, request, options, (form, sink) -> {
                        endWithRequest(sink.contextView(), () -> ReceivedForm.close(form));
                        sink.success(form);
                    });
                })
                .doOnDiscard(MultipartForm.class, ReceivedForm::close);
    }

    /**
     * {@return a form, received on a scheduler for blocking work}
     *
     * @param emit the callback that passes a received form to the sink, and owns the form
     */
    static <T> Mono<T> receive(
            Forms forms,
            ReactiveHttpInputMessage message,
            FormOptions options,
            BiConsumer<MultipartForm, MonoSink<T>> emit) {
        return Mono.create(sink -> {
            BodySource source =
                    new BodySource(forms, options, message, Schedulers.boundedElastic()::schedule, sink.contextView());
            sink.onDispose(source);
            endWithRequest(sink.contextView(), source);
            source.start(form -> emit.accept(form, sink), failure -> sink.error(Rejections.toSpringException(failure)));
        });
    }

    /** Disposes {@code resource} when the request ends, or now if it has ended. Does nothing without the filter. */
    static void endWithRequest(ContextView context, Disposable resource) {
        context.<Disposable.Composite>getOrEmpty(SluiceWebFlux.class).ifPresent(resources -> resources.add(resource));
    }
}
