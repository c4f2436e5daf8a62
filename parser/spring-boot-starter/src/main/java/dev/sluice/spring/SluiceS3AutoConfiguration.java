package dev.sluice.spring;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.StoreMetrics;
import dev.sluice.micrometer.StoreMeterBinder;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.webflux.SluiceWebFlux;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.servlet.DispatcherServlet;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * The auto-configuration of the object store, if {@code sluice.s3.bucket} is set: the store, its sinks, and controller
 * parameters of the type {@link StoredForm}.
 */
@AutoConfiguration(after = {SluiceAutoConfiguration.class, SluiceWebFluxAutoConfiguration.class})
@ConditionalOnClass(S3Sinks.class)
@ConditionalOnProperty(S3Properties.PREFIX + ".bucket")
@EnableConfigurationProperties(S3Properties.class)
class SluiceS3AutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    ObjectStore sluiceObjectStore(
            S3Properties properties,
            ObjectProvider<S3AsyncClient> client,
            ObjectProvider<AwsCredentialsProvider> credentials,
            ObjectProvider<StoreMetrics> metrics) {
        return properties.store(
                only(client, S3AsyncClient.class),
                properties.accessKey() != null ? null : only(credentials, AwsCredentialsProvider.class),
                only(metrics, StoreMetrics.class));
    }

    /** {@return the bean, or null if there is none} */
    private static <T> @Nullable T only(ObjectProvider<T> beans, Class<T> type) {
        try {
            return beans.getIfAvailable();
        } catch (NoUniqueBeanDefinitionException e) {
            throw new StoreStartException(
                    "The object store cannot choose between the beans of the type " + type.getSimpleName() + ": "
                            + e.getBeanNamesFound() + '.',
                    "Mark one of them with @Primary, or define a bean of the type ObjectStore.",
                    e);
        }
    }

    @Bean
    @ConditionalOnMissingBean
    S3Sinks sluiceS3Sinks(S3Properties properties, ObjectStore store, ObjectProvider<MemoryBudget> budget) {
        return properties.sinks(store, budget.getIfAvailable(() -> MemoryBudget.parse(null)));
    }

    @Bean
    StoreLifecycle sluiceStoreLifecycle(ObjectStore store, S3Sinks sinks, S3Properties properties) {
        return new StoreLifecycle(store, sinks, properties);
    }

    /** The meters, which Actuator binds to its registries. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Meters {
        @Bean
        @ConditionalOnMissingBean(StoreMetrics.class)
        StoreMeterBinder sluiceStoreMeterBinder() {
            return StoreMeterBinder.of();
        }
    }

    /** The controller parameters of Spring MVC. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(DispatcherServlet.class)
    static class Mvc {
        @Bean
        StoredFormResolver sluiceStoredFormResolver(
                S3Sinks sinks,
                ObjectProvider<SluiceProperties> properties,
                ObjectProvider<MultipartResolver> resolver) {
            properties.ifAvailable(SluiceProperties::requireLazyResolution);
            return new StoredFormResolver(sinks, resolver);
        }
    }

    /** The controller parameters of WebFlux. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnClass(WebFluxConfigurer.class)
    @ConditionalOnBean(SluiceWebFlux.class)
    static class WebFlux {
        @Bean
        ReactiveStoredFormResolver sluiceStoredFormResolver(S3Sinks sinks, SluiceWebFlux forms) {
            return new ReactiveStoredFormResolver(sinks, forms);
        }
    }

    /** The health of the store, with the types of Boot 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(org.springframework.boot.actuate.health.HealthIndicator.class)
    @ConditionalOnExpression(StoreHealth.CONDITION)
    static class HealthOfBoot3 {
        @Bean
        org.springframework.boot.actuate.health.HealthIndicator sluiceS3HealthIndicator(
                ObjectStore store, S3Properties properties) {
            return () -> StoreHealth.check(store, properties)
                    .map(failure -> org.springframework.boot.actuate.health.Health.down(failure)
                            .build())
                    .orElseGet(() ->
                            org.springframework.boot.actuate.health.Health.up().build());
        }
    }

    /** The health of the store, with the types of Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(org.springframework.boot.health.contributor.HealthIndicator.class)
    @ConditionalOnMissingClass("org.springframework.boot.actuate.health.HealthIndicator")
    @ConditionalOnExpression(StoreHealth.CONDITION)
    static class HealthOfBoot4 {
        @Bean
        org.springframework.boot.health.contributor.HealthIndicator sluiceS3HealthIndicator(
                ObjectStore store, S3Properties properties) {
            return () -> StoreHealth.check(store, properties)
                    .map(failure -> org.springframework.boot.health.contributor.Health.down(failure)
                            .build())
                    .orElseGet(() -> org.springframework.boot.health.contributor.Health.up()
                            .build());
        }
    }
}
