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
 * The auto-configuration of servlet applications: the filter, the multipart resolver and the handlers of rejections. It
 * is applied before Boot's multipart configuration, which has different names in Boot 3 and 4. It is applied after the
 * configuration of Spring Cloud Gateway, whose resolver leaves proxied requests unread.
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

    /**
     * The order of the filter: after the filter that sets the request's charset, before all filters that read
     * parameters.
     */
    static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 10;

    /** The default order of Spring Security, whose filters read parameters. */
    static final int SECURITY_ORDER = -100;

    /** Boot's default limits, used if the application excludes Boot's multipart configuration. */
    private static final MultipartConfigElement BOOT_DEFAULTS = new MultipartConfigElement("", 1 << 20, 10 << 20, 0);

    @Bean
    SluiceProperties sluiceProperties(Environment environment, ObjectProvider<MultipartConfigElement> boot) {
        MultipartConfigElement limits = boot.getIfAvailable(() -> BOOT_DEFAULTS);
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
        properties.forEach(filter::set, Setting.Scope.FILTER);
        properties.forEachPath(filter::path);
        FilterRegistrationBean<Filter> registration = new Registration(new BootFilter(filter));
        registration.setName("sluice");
        registration.setOrder(ORDER);
        registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        return registration;
    }

    /** A filter just before Spring Security that ends the {@link DeferredRejection} of the request. */
    @Bean
    FilterRegistrationBean<Filter> sluiceDeferralEnd(Environment environment) {
        FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
            DeferredRejection.end(request);
            chain.doFilter(request, response);
        });
        registration.setName("sluiceDeferralEnd");
        registration.setOrder(
                environment.getProperty("spring.security.filter.order", Integer.class, SECURITY_ORDER) - 1);
        return registration;
    }

    @Bean
    RejectionInterceptor sluiceRejectionInterceptor(ListableBeanFactory beans) {
        return new RejectionInterceptor(isGateway(beans));
    }

    private static boolean isGateway(ListableBeanFactory beans) {
        ClassLoader loader = SluiceAutoConfiguration.class.getClassLoader();
        return ClassUtils.isPresent(GATEWAY, loader)
                && beans.getBeanNamesForType(ClassUtils.resolveClassName(GATEWAY, loader), true, false).length > 0;
    }

    @Bean
    RegistrationCheck sluiceRegistrationCheck(ListableBeanFactory beans) {
        return new RegistrationCheck(beans);
    }

    /** A registration that destroys its filter before the spool is closed. Boot would destroy it after all beans. */
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
        return new SluiceMultipartResolver(properties.lazy, properties.strict);
    }

    @Bean
    RejectionMapping sluiceRejectionMapping() {
        return new RejectionMapping();
    }

    @Bean
    RejectionAdvice sluiceRejectionAdvice() {
        return new RejectionAdvice();
    }
}
