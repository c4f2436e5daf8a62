package dev.sluice.spring;

import dev.sluice.Setting;
import dev.sluice.form.FormOptions;
import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import java.util.EnumSet;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.servlet.DispatcherServlet;

/** Puts the filter in front, and the resolver behind it; before Boot's own of the names that Boot 3 and 4 have for it. */
@AutoConfiguration(
        beforeName = {
            "org.springframework.boot.autoconfigure.web.servlet.MultipartAutoConfiguration",
            "org.springframework.boot.servlet.autoconfigure.MultipartAutoConfiguration"
        })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(DispatcherServlet.class)
@ConditionalOnProperty(
        name = {"sluice.enabled", "spring.servlet.multipart.enabled"},
        havingValue = "true",
        matchIfMissing = true)
@Import(FormsConfiguration.class)
class SluiceAutoConfiguration {
    /** Behind the filter that sets the charset of the request, before all others: Spring Security asks for parameters. */
    static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 10;

    /** Its defaults, where its own configuration is excluded. */
    private static final MultipartConfigElement BOOTS = new MultipartConfigElement("", 1 << 20, 10 << 20, 0);

    @Bean
    SluiceProperties sluiceProperties(Environment environment, ObjectProvider<MultipartConfigElement> boot) {
        MultipartConfigElement limits = boot.getIfAvailable(() -> BOOTS);
        return SluiceProperties.ofServlets(
                environment,
                limits.getMaxFileSize(),
                limits.getMaxRequestSize(),
                limits.getFileSizeThreshold(),
                limits.getLocation());
    }

    @Bean
    @ConditionalOnMissingBean(name = "sluiceFilter")
    FilterRegistrationBean<Filter> sluiceFilter(SluiceProperties properties, FormOptions options) {
        SluiceFilter.Builder filter = SluiceFilter.builder(options).refusalHandler(RefusalMapping::dispatch);
        properties.each(filter::set, Setting.Scope.FILTER);
        properties.eachPath(filter::path);
        FilterRegistrationBean<Filter> registration = new Registration(new BootFilter(filter.build()));
        registration.setName("sluice");
        registration.setOrder(ORDER);
        registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        return registration;
    }

    @Bean
    RegistrationCheck sluiceRegistrationCheck(ListableBeanFactory beans) {
        return new RegistrationCheck(beans);
    }

    /** Boot destroys filters after all beans; forms have to end before their spool. */
    private static final class Registration extends FilterRegistrationBean<Filter> implements DisposableBean {
        Registration(Filter filter) {
            super(filter);
        }

        @Override
        public void destroy() {
            getFilter().destroy();
        }
    }

    @Bean(name = DispatcherServlet.MULTIPART_RESOLVER_BEAN_NAME)
    @ConditionalOnMissingBean(MultipartResolver.class)
    SluiceMultipartResolver multipartResolver(SluiceProperties properties) {
        return new SluiceMultipartResolver(properties.resolvesLazily(), properties.isStrict());
    }

    @Bean
    RefusalMapping sluiceRefusalMapping() {
        return new RefusalMapping();
    }

    @Bean
    RefusedForms sluiceRefusedForms() {
        return new RefusedForms();
    }
}
