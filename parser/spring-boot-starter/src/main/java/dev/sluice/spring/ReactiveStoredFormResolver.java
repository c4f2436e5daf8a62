package dev.sluice.spring;

import dev.sluice.s3.S3Form;
import dev.sluice.s3.S3Sinks;
import dev.sluice.webflux.SluiceWebFlux;
import org.springframework.core.MethodParameter;
import org.springframework.web.reactive.BindingContext;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.reactive.result.method.HandlerMethodArgumentResolver;
import org.springframework.web.reactive.result.method.annotation.ArgumentResolverConfigurer;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** A resolver of controller parameters of the type {@link StoredForm} in WebFlux. */
record ReactiveStoredFormResolver(S3Sinks sinks, SluiceWebFlux forms)
        implements HandlerMethodArgumentResolver, WebFluxConfigurer {
    @Override
    public void configureArgumentResolvers(ArgumentResolverConfigurer configurer) {
        configurer.addCustomResolver(this);
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return parameter.getParameterType() == StoredForm.class;
    }

    @Override
    public Mono<Object> resolveArgument(
            MethodParameter parameter, BindingContext bindingContext, ServerWebExchange exchange) {
        return Mono.defer(() -> {
            S3Form stored = sinks.newForm();
            return forms.form(exchange.getRequest(), stored::options).map(fields -> StoredForm.of(stored, fields));
        });
    }
}
