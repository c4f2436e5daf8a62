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
import org.springframework.util.ClassUtils;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * Defines the filter and the resolver. It comes before Boot's own configuration, which has another name in Boot 4, and after
 * the one of Spring Cloud Gateway, whose resolver leaves proxied requests unread.
 */
@AutoConfiguration(
        afterName = SluiceAutoConfiguration.GATEWAY,
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
    static final String GATEWAY =
            "org.springframework.cloud.gateway.server.mvc.handler.GatewayMultipartAutoConfiguration";

    /** Behind the filter that sets the charset of the request, before all others: Spring Security asks for parameters. */
    static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 10;

    /** The default order of Spring Security, whose filters ask for parameters. */
    static final int SECURITY_ORDER = -100;

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
        SluiceFilter.Builder filter = SluiceFilter.builder(options);
        properties.each(filter::set, Setting.Scope.FILTER);
        properties.eachPath(filter::path);
        FilterRegistrationBean<Filter> registration = new Registration(new BootFilter(filter));
        registration.setName("sluice");
        registration.setOrder(ORDER);
        registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        return registration;
    }

    /** Comes just in front of Spring Security, and of every filter that Boot puts after it. */
    @Bean
    FilterRegistrationBean<Filter> sluiceDeferralEnd(Environment environment) {
        FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
            Deferral.end(request);
            chain.doFilter(request, response);
        });
        registration.setName("sluiceDeferralEnd");
        registration.setOrder(
                environment.getProperty("spring.security.filter.order", Integer.class, SECURITY_ORDER) - 1);
        return registration;
    }

    @Bean
    DeferredRefusals sluiceDeferredRefusals() {
        return new DeferredRefusals(ClassUtils.isPresent(GATEWAY, SluiceAutoConfiguration.class.getClassLoader()));
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
