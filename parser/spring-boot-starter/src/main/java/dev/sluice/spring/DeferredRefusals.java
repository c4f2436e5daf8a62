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
 * Throws a {@linkplain Deferral deferred} refusal in place of a call of the handler, so that the exception handlers of the
 * application answer it.
 *
 * <p>In a gateway a body that was refused for its type or method stays unread for handler functions. The routes of Spring Cloud
 * Gateway are such functions, and forward it. A function that asks for parts or parameters still gets the refusal.
 */
final class DeferredRefusals implements WebMvcConfigurer, HandlerInterceptor {
    private final boolean forwards;

    /** @param forwards whether the application is a gateway */
    DeferredRefusals(boolean forwards) {
        this.forwards = forwards;
    }

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this);
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        Deferral deferral = request.getDispatcherType() == DispatcherType.REQUEST ? Deferral.of(request) : null;
        if (deferral == null) {
            return true;
        }
        MultipartRequestException refusal = deferral.refusal();
        if (refusal != null && !(forwards && deferral.isUnread() && handler instanceof HandlerFunction)) {
            throw SluiceMultipartResolver.translated(refusal);
        }
        return true;
    }
}
