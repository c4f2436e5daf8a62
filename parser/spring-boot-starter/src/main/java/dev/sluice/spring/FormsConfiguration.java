package dev.sluice.spring;

import dev.sluice.Setting;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.micrometer.FormMeterBinder;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans that servlet and WebFlux applications share: spool, memory budget, options and metrics. */
@Configuration(proxyBeanMethods = false)
class FormsConfiguration {
    @Bean
    @ConditionalOnMissingBean
    SpoolDirectory sluiceSpoolDirectory(SluiceProperties properties) {
        return properties.openSpool();
    }

    @Bean
    @ConditionalOnMissingBean
    MemoryBudget sluiceMemoryBudget(SluiceProperties properties) {
        return properties.memoryBudget();
    }

    @Bean
    @ConditionalOnMissingBean
    FormOptions sluiceFormOptions(
            SluiceProperties properties,
            SpoolDirectory spool,
            MemoryBudget memory,
            ObjectProvider<FormMetrics> metrics,
            ObjectProvider<FormOptionsCustomizer> customizers) {
        FormOptions.Builder options = FormOptions.builder(spool, memory);
        properties.forEach(options::set, Setting.Scope.BODY, Setting.Scope.FORM);
        options.metrics(new RejectionLog(
                properties.rejectionLogLevel, metrics.getIfAvailable(() -> summary -> {}), System::nanoTime));
        customizers.orderedStream().forEach(customizer -> customizer.customize(options));
        return options.build();
    }

    /** The meters, which Actuator binds to its registries. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Meters {
        @Bean
        @ConditionalOnMissingBean(FormMetrics.class)
        FormMeterBinder sluiceFormMeterBinder(SpoolDirectory spool, MemoryBudget memory) {
            return FormMeterBinder.of(spool, memory);
        }
    }
}
