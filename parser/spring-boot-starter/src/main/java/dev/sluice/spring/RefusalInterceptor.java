package dev.sluice.spring;

import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.function.HandlerFunction;

/**
 * An interceptor that throws a {@linkplain DeferredRefusal deferred refusal} before the handler is called,
 * also after a forward or an include. The exception handlers of the application then answer it.
 *
 * <p>In a gateway, handler functions are called even if the body was refused for its type or method. The routes of
 * Spring Cloud Gateway are such functions, and forward the unread body. A function that reads parts or parameters still
 * gets the refusal.
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
        DeferredRefusal deferred = DeferredRefusal.of(request);
        if (deferred == null
                || request.getDispatcherType() == DispatcherType.ASYNC
                || request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) != null) {
            return true; // the refusal was thrown before, and its error page may be a controller
        }
        MultipartRequestException refusal = deferred.refusal();
        if (refusal != null && !(gateway && deferred.isBodyUnread() && handler instanceof HandlerFunction)) {
            throw SluiceMultipartResolver.toSpringException(refusal);
        }
        return true;
    }
}
