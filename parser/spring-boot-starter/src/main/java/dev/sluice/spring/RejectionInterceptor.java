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
 * An interceptor that throws a {@linkplain DeferredRejection deferred rejection} before a handler is called,
 * including the handler of a forward or an include. The exception handlers of the application then handle it.
 *
 * <p>In a gateway, handler functions are called even if the body was rejected for its type or method. The routes of
 * Spring Cloud Gateway are such functions, and forward the unread body. If a function reads parts or parameters, the
 * rejection is thrown.
 *
 * @param gateway whether the application is a Spring Cloud Gateway
 */
record RejectionInterceptor(boolean gateway) implements WebMvcConfigurer, HandlerInterceptor {
    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this);
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        DeferredRejection deferred = DeferredRejection.of(request);
        if (deferred == null
                || request.getDispatcherType() == DispatcherType.ASYNC
                || request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) != null) {
            return true; // there is no rejection, or it was thrown before and its error page may be a controller
        }
        MultipartRequestException rejection = deferred.rejection();
        if (rejection != null && !(gateway && deferred.isBodyUnread() && handler instanceof HandlerFunction)) {
            throw SluiceMultipartResolver.toSpringException(rejection);
        }
        return true;
    }
}
