package dev.sluice.servlet;

import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.RequestForm.BodyOwner;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.Part;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UnsupportedEncodingException;
import java.nio.charset.Charset;
import java.util.Collection;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The request that the application gets. Its state is in {@link RequestState}.
 *
 * <p>Until the body is {@linkplain RequestForm#claim claimed}, this class parses the query string itself, because
 * {@code getParameter} of the container might also parse the body. Afterwards the query parameters come from the
 * wrapped request, so that forwards and other wrappers can change them. There are two exceptions, in which this class still
 * parses the query string: the body was rejected unread, or a servlet in Jetty has {@code @MultipartConfig}.
 */
final class MultipartRequest extends HttpServletRequestWrapper {
    /**
     * The request attribute that Jetty sets for a servlet with {@code @MultipartConfig}. It makes {@code getParameter} parse the body. If
     * the body was consumed, parsing fails, and Jetty throws that failure again at the end of the request and closes the connection.
     */
    private static final String JETTY_MULTIPART_CONFIG = "org.eclipse.jetty.multipartConfig";

    private final RequestState state;

    MultipartRequest(HttpServletRequest request, RequestState state) {
        super(request);
        this.state = state;
    }

    @Override
    public void setCharacterEncoding(String encoding) throws UnsupportedEncodingException {
        super.setCharacterEncoding(encoding);
        state.form.charset.setAfterFilter();
    }

    /** Overrides a method of Servlet 6.1, which would set the encoding of the wrapped request directly. */
    public void setCharacterEncoding(Charset encoding) {
        try {
            setCharacterEncoding(encoding.name());
        } catch (UnsupportedEncodingException e) {
            throw new IllegalArgumentException(e); // cannot happen, because the charset exists
        }
    }

    // ---- parts

    @Override
    public Collection<Part> getParts() throws IOException {
        MultipartForm form = form();
        Stream<FormPart> parts = form == null ? Stream.of() : form.parts().stream();
        return parts.<Part>map(part -> new ServletPart(part, state)).toList();
    }

    @Override
    public @Nullable Part getPart(String name) throws IOException {
        MultipartForm form = form();
        FormPart part = form == null ? null : form.part(name);
        return part == null ? null : new ServletPart(part, state);
    }

    private @Nullable MultipartForm form() throws IOException {
        return isErrorPage() ? state.form.formIfPresent() : state.form.parsed();
    }

    /** {@return whether an error page is dispatched, which must neither wait for the form nor fail because of it} */
    private boolean isErrorPage() {
        return getDispatcherType() == DispatcherType.ERROR
                || state.lease.hasEnded()
                        && getAttribute(RequestDispatcher.ERROR_STATUS_CODE) != null; // a forward to an error page
    }

    // ---- parameters

    private FieldTexts texts() {
        return isErrorPage() ? state.form.textsIfPresent() : state.form.texts();
    }

    @Override
    public @Nullable String getParameter(String name) {
        List<String> inBody = texts().of(name);
        String[] inQuery = query().get(name);
        if (inQuery != null && inQuery.length > 0) {
            return inQuery[0];
        }
        return inBody.isEmpty() ? null : inBody.get(0);
    }

    @Override
    public String @Nullable [] getParameterValues(String name) {
        return join(texts().of(name), query().get(name));
    }

    private Map<String, String[]> query() {
        RequestForm body = state.form;
        boolean consumed = body.isClaimed() && !body.isRejected(); // otherwise the container might parse the body
        RuntimeException failure = null;
        if (consumed && getAttribute(JETTY_MULTIPART_CONFIG) == null) {
            try {
                return super.getParameterMap();
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        try {
            return QueryString.parameters(getQueryString(), body.charset.get(), consumed);
        } catch (IllegalArgumentException e) {
            if (failure == null) {
                return super.getParameterMap(); // throws the exception of Jetty, which responds with 400
            }
            throw failure;
        }
    }

    private static String @Nullable [] join(List<String> inBody, String @Nullable [] inQuery) {
        if (inBody.isEmpty()) {
            return inQuery;
        }
        Stream<String> first = inQuery == null ? Stream.of() : Stream.of(inQuery);
        return Stream.concat(first, inBody.stream()).toArray(String[]::new);
    }

    @Override
    public Enumeration<String> getParameterNames() {
        FieldTexts texts = texts();
        Set<String> names = new LinkedHashSet<>(query().keySet());
        names.addAll(texts.values.keySet());
        return Collections.enumeration(names);
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        FieldTexts texts = texts();
        Map<String, String[]> all = new LinkedHashMap<>(query());
        texts.values.forEach((name, inBody) -> all.put(name, join(inBody, all.get(name))));
        return Collections.unmodifiableMap(all);
    }

    // ---- the body

    @Override
    public ServletInputStream getInputStream() throws IOException {
        takeBody();
        return super.getInputStream();
    }

    @Override
    public BufferedReader getReader() throws IOException {
        takeBody();
        return super.getReader();
    }

    /**
     * Claims the body for the application. Has no effect after a form was parsed, because the stream is at its end.
     *
     * @throws MultipartRequestException if the form was rejected, because part of the body may be unread
     */
    private void takeBody() {
        RequestForm body = state.form;
        BodyOwner before = body.claim(BodyOwner.APPLICATION);
        if (before == BodyOwner.NONE || before == BodyOwner.APPLICATION) {
            return;
        } else if (!body.hasForm(before)) { // even if that owner has given the body back by now
            throw body.alreadyClaimed();
        }
        MultipartRequestException rejection = isErrorPage() || body.isRejected() ? null : body.rejection();
        if (rejection != null) {
            throw rejection;
        }
    }

    // ---- asynchronous requests

    @Override
    public AsyncContext startAsync() {
        return started(super.startAsync());
    }

    @Override
    public AsyncContext startAsync(ServletRequest request, ServletResponse response) {
        return started(super.startAsync(request, response));
    }

    private AsyncContext started(AsyncContext context) {
        state.asyncStarted(context);
        return counting(context);
    }

    @Override
    public AsyncContext getAsyncContext() {
        return counting(super.getAsyncContext());
    }

    private AsyncContext counting(AsyncContext context) {
        return new CountingAsyncContext(context, this, getRequest(), state);
    }
}
