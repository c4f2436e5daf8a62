package org.springframework.cloud.gateway.server.mvc.handler;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * A stand-in for the configuration of Spring Cloud Gateway, whose real jar would turn multipart support off in every
 * test. It has the same name, the same order and a resolver that parses lazily. The script {@code .ci/consumers} runs
 * the real gateway.
 */
@AutoConfiguration(
        beforeName = {
            "org.springframework.boot.autoconfigure.web.servlet.MultipartAutoConfiguration",
            "org.springframework.boot.servlet.autoconfigure.MultipartAutoConfiguration"
        })
@ConditionalOnProperty("test.gateway")
public class GatewayMultipartAutoConfiguration {
    @Bean(name = DispatcherServlet.MULTIPART_RESOLVER_BEAN_NAME)
    @ConditionalOnMissingBean(MultipartResolver.class)
    StandardServletMultipartResolver gatewayResolver() {
        StandardServletMultipartResolver resolver = new StandardServletMultipartResolver();
        resolver.setResolveLazily(true);
        return resolver;
    }
}
