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

/**
 * The auto-configuration for WebFlux applications. It registers the form readers and the handler for rejected forms. It
 * is applied before Boot's error handling, which has different names in Boot 3 and 4.
 */
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
        properties.forEachPath((path, change) -> {
            throw new IllegalArgumentException(
                    "limits for a path are supported in servlet applications only: a WebFlux reader does not see the path");
        });
        return properties;
    }

    @Bean
    @ConditionalOnMissingBean
    SluiceWebFlux sluiceWebFlux(SluiceProperties properties, FormOptions options) {
        return properties.rejectsOtherMultipart() ? SluiceWebFlux.of(options) : SluiceWebFlux.onlyForms(options);
    }

    /**
     * Registers the handler for rejected forms. It has the same order as Boot's handler, and comes first because it is
     * registered first. An application's handler with a lower order precedes both.
     */
    @Bean
    @Order(-1)
    WebFluxRejectionHandler sluiceWebFluxRejectionHandler(ObjectProvider<ServerCodecConfigurer> codecs) {
        return new WebFluxRejectionHandler(codecs::getObject);
    }
}
