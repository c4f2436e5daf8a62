package dev.sluice.spring;

import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * The filter chain after {@link BootFilter}. It holds a rejection back until the filters that set headers have run. It
 * is stored as a request attribute.
 *
 * <p>Spring Security and its CORS filter add headers before they call the next filter, and respond to anonymous users themselves. A filter
 * before them may read a parameter, as Spring's {@code HiddenHttpMethodFilter} does. If the rejection were thrown there, the request would
 * end before these headers are set. Therefore a request whose form was rejected has only the parameters of the query string until
 * {@link #end} is called. Afterwards every method that reads the form throws the rejection. A filter of {@link SluiceAutoConfiguration}
 * calls {@link #end} just before Spring Security. {@link RejectionInterceptor} throws the rejection before a controller is called. Servlets
 * other than the {@code DispatcherServlet} are still called. They can read a body that was rejected for its type or method. If they read a
 * form that was rejected for another reason, the rejection is thrown.
 *
 * <p>Confined to the thread of the request.
 */
final class DeferredRejection implements FilterChain {
    private static final String ATTRIBUTE = DeferredRejection.class.getName();
    private static final String FORM = "multipart/form-data";
    private static final int METHOD_NOT_ALLOWED = 405;

    private final FilterChain chain;
    private boolean entered;
    private boolean ended;
    private boolean bodyUnread;
    private @Nullable MultipartRequestException rejection;

    private DeferredRejection(FilterChain chain) {
        this.chain = chain;
    }

    /** {@return a chain to call instead of {@code chain}} */
    static DeferredRejection attach(ServletRequest request, FilterChain chain) {
        DeferredRejection deferred = new DeferredRejection(chain);
        request.setAttribute(ATTRIBUTE, deferred);
        return deferred;
    }

    static @Nullable DeferredRejection of(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof DeferredRejection deferred ? deferred : null;
    }

    /** Makes every later call that reads a rejected form throw the rejection. */
    static void end(ServletRequest request) {
        DeferredRejection deferred = of(request);
        if (deferred != null) {
            deferred.ended = true;
        }
    }

    /** {@return whether the rejection was stored} It is not stored if the chain has already been called. */
    boolean defer(HttpServletRequest request, MultipartRequestException rejected) {
        if (entered) {
            return false;
        }
        rejection = rejected;
        bodyUnread = rejected.httpStatus() == METHOD_NOT_ALLOWED
                || !StringUtils.startsWithIgnoreCase(request.getContentType(), FORM);
        return true;
    }

    @Nullable
    MultipartRequestException rejection() {
        return rejection;
    }

    /** {@return whether the body was rejected for its type or method, so that no byte of it has been read} */
    boolean isBodyUnread() {
        return bodyUnread;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response) throws IOException, ServletException {
        entered = true;
        chain.doFilter(
                request instanceof HttpServletRequest http ? new FormOrQueryParameters(http) : request, response);
    }

    /**
     * A request whose parameters come from the form or, if the form is rejected before {@link #end}, from the query
     * string.
     */
    private final class FormOrQueryParameters extends HttpServletRequestWrapper {
        FormOrQueryParameters(HttpServletRequest request) {
            super(request);
        }

        private <T> T formOrQuery(Supplier<T> form, Supplier<T> query) {
            try {
                return form.get();
            } catch (MultipartRequestException e) {
                if (ended) {
                    throw e;
                }
                rejection = e;
                return query.get();
            }
        }

        private Map<String, String[]> query() {
            return MultipartRequests.queryParameters(this);
        }

        @Override
        public @Nullable String getParameter(String name) {
            return formOrQuery(() -> super.getParameter(name), () -> {
                String[] values = query().get(name);
                return values == null ? null : values[0];
            });
        }

        @Override
        public String @Nullable [] getParameterValues(String name) {
            return formOrQuery(() -> super.getParameterValues(name), () -> query().get(name));
        }

        @Override
        public Enumeration<String> getParameterNames() {
            return formOrQuery(super::getParameterNames, () -> Collections.enumeration(query().keySet()));
        }

        @Override
        public Map<String, String[]> getParameterMap() {
            return formOrQuery(super::getParameterMap, this::query);
        }
    }
}
