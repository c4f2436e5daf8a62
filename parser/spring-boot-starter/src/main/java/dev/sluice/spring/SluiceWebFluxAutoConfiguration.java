package dev.sluice.spring;

import dev.sluice.form.FormOptions;
import dev.sluice.webflux.SluiceWebFlux;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;

/** Adds the readers of forms; before what answers errors, by the names that Boot 3 and 4 have for it. */
@AutoConfiguration(
        beforeName = {
            "org.springframework.boot.autoconfigure.web.reactive.error.ErrorWebFluxAutoConfiguration",
            "org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(WebFluxConfigurer.class)
@ConditionalOnProperty(name = "sluice.enabled", havingValue = "true", matchIfMissing = true)
@Import(FormsConfiguration.class)
class SluiceWebFluxAutoConfiguration {
    @Bean
    SluiceProperties sluiceProperties(Environment environment) {
        SluiceProperties properties = SluiceProperties.ofWebFlux(environment);
        properties.eachPath((path, change) -> {
            throw new IllegalArgumentException("WebFlux has no limits per path: readers are not told of it");
        });
        return properties;
    }

    @Bean
    @ConditionalOnMissingBean
    SluiceWebFlux sluiceWebFlux(SluiceProperties properties, FormOptions options) {
        return properties.refusesOthers() ? SluiceWebFlux.of(options) : SluiceWebFlux.onlyForms(options);
    }

    /** At the order of Boot's, which it comes before; after those of applications that want to come before Boot's. */
    @Bean
    @Order(-1)
    ReactiveRefusedForms sluiceReactiveRefusedForms(ObjectProvider<ServerCodecConfigurer> codecs) {
        return new ReactiveRefusedForms(codecs::getObject);
    }
}
