package dev.sluice.spring;

import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.HandlerFunction;

/**
 * An interceptor that throws a {@linkplain DeferredRefusal deferred refusal} before the handler is called. The
 * exception handlers of the application then answer it.
 *
 * <p>In a gateway, handler functions are called even if the body was refused for its type or method, because the routes
 * of Spring Cloud Gateway are handler functions that forward the unread body. A function that reads parts or parameters
 * still gets the refusal.
 */
final class RefusalInterceptor implements WebMvcConfigurer, HandlerInterceptor {
    private final boolean gateway;

    /** @param gateway whether the application is a Spring Cloud Gateway */
    RefusalInterceptor(boolean gateway) {
        this.gateway = gateway;
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this);
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        DeferredRefusal deferred =
                request.getDispatcherType() == DispatcherType.REQUEST ? DeferredRefusal.of(request) : null;
        if (deferred == null) {
            return true;
        }
        MultipartRequestException refusal = deferred.refusal();
        if (refusal != null && !(gateway && deferred.isBodyUnread() && handler instanceof HandlerFunction)) {
            throw SluiceMultipartResolver.toSpringException(refusal);
        }
        return true;
    }
}
