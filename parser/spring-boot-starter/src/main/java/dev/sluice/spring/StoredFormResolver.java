package dev.sluice.spring;

import dev.sluice.s3.S3Form;
import dev.sluice.s3.S3Sinks;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.MethodParameter;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** A resolver of controller parameters of the type {@link StoredForm} in Spring MVC. It blocks until the form is stored. */
record StoredFormResolver(S3Sinks sinks, ObjectProvider<MultipartResolver> multipartResolver)
        implements HandlerMethodArgumentResolver, WebMvcConfigurer, SmartInitializingSingleton {
    private static final Log LOG = LogFactory.getLog(StoredFormResolver.class);

    @Override
    public void afterSingletonsInstantiated() {
        MultipartResolver other = multipartResolver.getIfAvailable();
        if (other != null && !(other instanceof SluiceMultipartResolver)) {
            LOG.warn("The application's MultipartResolver (" + other.getClass().getName()
                    + ") may read a form first, and"
                    + " then a controller with a parameter of the type StoredForm fails. Remove the bean, or make it resolve forms"
                    + " lazily, for example with setResolveLazily(true).");
        }
    }

    @Override
    public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
        resolvers.add(this);
    }

    @Override
    public boolean supportsParameter(MethodParameter parameter) {
        return parameter.getParameterType() == StoredForm.class;
    }

    @Override
    public StoredForm resolveArgument(
            MethodParameter parameter,
            @Nullable ModelAndViewContainer view,
            NativeWebRequest request,
            @Nullable WebDataBinderFactory binder)
            throws IOException {
        S3Form stored = sinks.newForm();
        HttpServletRequest http = Objects.requireNonNull(
                request.getNativeRequest(HttpServletRequest.class), "the request is not a servlet request");
        return StoredForm.of(stored, MultipartRequests.form(http, stored::options));
    }
}
