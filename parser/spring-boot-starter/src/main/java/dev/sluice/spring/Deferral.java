package dev.sluice.spring;

import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringUtils;

/**
 * A refusal that waits until the filters that set headers have seen the request. It is an attribute of the request, and the
 * chain that follows {@link BootFilter}.
 *
 * <p>Spring Security and its CORS filter set headers on the way in, and answer anonymous users themselves. A filter in front of
 * them may ask for a parameter, as Spring's {@code HiddenHttpMethodFilter} does. Until {@link #end()}, which {@link
 * SluiceAutoConfiguration} has called just in front of Spring Security, a refused form therefore has the parameters of the
 * query string only. After that, every call that asks for the form throws the refusal. {@link DeferredRefusals} throws it
 * before a controller is called.
 *
 * <p>Confined to the thread of the request.
 */
final class Deferral implements FilterChain {
    private static final String ATTRIBUTE = Deferral.class.getName();
    private static final String FORM = "multipart/form-data";
    private static final int METHOD_NOT_ALLOWED = 405;

    private final FilterChain chain;
    private boolean entered;
    private boolean ended;
    private boolean unread;
    private @Nullable MultipartRequestException refusal;

    private Deferral(FilterChain chain) {
        this.chain = chain;
    }

    /** {@return the chain to call instead of {@code chain}} */
    static Deferral attach(ServletRequest request, FilterChain chain) {
        Deferral deferral = new Deferral(chain);
        request.setAttribute(ATTRIBUTE, deferral);
        return deferral;
    }

    static @Nullable Deferral of(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof Deferral deferral ? deferral : null;
    }

    /** Ends the deferral, if there is one: every later call that asks for a refused form throws the refusal. */
    static void end(ServletRequest request) {
        Deferral deferral = of(request);
        if (deferral != null) {
            deferral.ended = true;
        }
    }

    /** Keeps what {@link dev.sluice.servlet.SluiceFilter} refused, unless that was after the chain was entered. {@return whether it is kept} */
    boolean keeps(HttpServletRequest request, MultipartRequestException refused) {
        if (entered) {
            return false;
        }
        refusal = refused;
        unread = refused.httpStatus() == METHOD_NOT_ALLOWED
                || !StringUtils.startsWithIgnoreCase(request.getContentType(), FORM);
        return true;
    }

    /** {@return what was refused, or null} */
    @Nullable
    MultipartRequestException refusal() {
        return refusal;
    }

    /** {@return whether the body was refused for its type or method, so that its bytes are all there} */
    boolean isUnread() {
        return unread;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response) throws IOException, ServletException {
        entered = true;
        chain.doFilter(request instanceof HttpServletRequest http ? new Parameters(http) : request, response);
    }

    private final class Parameters extends HttpServletRequestWrapper {
        Parameters(HttpServletRequest request) {
            super(request);
        }

        private <T> T orOfQuery(Supplier<T> ofForm, Supplier<T> ofQuery) {
            try {
                return ofForm.get();
            } catch (MultipartRequestException e) {
                if (ended) {
                    throw e;
                }
                refusal = e;
                return ofQuery.get();
            }
        }

        private Map<String, String[]> query() {
            Map<String, String[]> all = new LinkedHashMap<>();
            for (String pair : StringUtils.tokenizeToStringArray(getQueryString(), "&")) {
                String[] both = pair.split("=", 2);
                String value = both.length > 1 ? decoded(both[1]) : "";
                all.merge(decoded(both[0]), new String[] {value}, StringUtils::concatenateStringArrays);
            }
            return all;
        }

        private static String decoded(String text) {
            try {
                return URLDecoder.decode(text, StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) { // a broken escape
                return text;
            }
        }

        @Override
        public @Nullable String getParameter(String name) {
            return orOfQuery(() -> super.getParameter(name), () -> {
                String[] values = query().get(name);
                return values == null ? null : values[0];
            });
        }

        @Override
        public String @Nullable [] getParameterValues(String name) {
            return orOfQuery(() -> super.getParameterValues(name), () -> query().get(name));
        }

        @Override
        public Enumeration<String> getParameterNames() {
            return orOfQuery(super::getParameterNames, () -> Collections.enumeration(query().keySet()));
        }

        @Override
        public Map<String, String[]> getParameterMap() {
            return orOfQuery(super::getParameterMap, this::query);
        }
    }
}
