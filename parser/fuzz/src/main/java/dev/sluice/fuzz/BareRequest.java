package dev.sluice.fuzz;

import dev.sluice.testkit.Nothing;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request for the filter, without a container. */
final class BareRequest extends HttpServletRequestWrapper {
    /** The parameters of the query string. One of the names also occurs as a field in the corpus. */
    static final Map<String, String> QUERY = Map.of("q", "1", "a", "in the query");

    private static final String QUERY_STRING = "q=1&a=in+the+query";
    private static final HttpServletRequest NOTHING = Nothing.of(HttpServletRequest.class);
    private static final ServletContext CONTEXT = Nothing.of(ServletContext.class);

    private final Head head;
    private final BareStream body;
    private final Map<String, Object> attributes = new HashMap<>();
    private DispatcherType dispatcherType = DispatcherType.REQUEST;

    /**
     * The request without its body.
     *
     * @param length the Content-Length, or -1
     * @param expects whether the client waits for 100 Continue
     * @param encoding the character encoding, or null
     * @param hasBrokenParameters whether reading parameters fails, because the container also looks for them in the
     *     body
     */
    record Head(
            String method,
            String contentType,
            long length,
            boolean expects,
            @Nullable String encoding,
            boolean hasBrokenParameters) {}

    BareRequest(Head head, BareStream body) {
        super(NOTHING);
        this.head = head;
        this.body = body;
    }

    /** Sets the type of the next dispatch. */
    void dispatch(DispatcherType type) {
        dispatcherType = type;
    }

    @Override
    public DispatcherType getDispatcherType() {
        return dispatcherType;
    }

    @Override
    public ServletContext getServletContext() {
        return CONTEXT;
    }

    @Override
    public String getMethod() {
        return head.method();
    }

    @Override
    public String getProtocol() {
        return "HTTP/1.1";
    }

    @Override
    public String getContentType() {
        return head.contentType();
    }

    @Override
    public long getContentLengthLong() {
        return head.length();
    }

    @Override
    public @Nullable String getCharacterEncoding() {
        return head.encoding();
    }

    @Override
    public @Nullable String getHeader(String name) {
        return head.expects() && name.equalsIgnoreCase("Expect") ? "100-continue" : null;
    }

    @Override
    public ServletInputStream getInputStream() {
        return body;
    }

    @Override
    public String getQueryString() {
        return QUERY_STRING;
    }

    @Override
    public Map<String, String[]> getParameterMap() {
        if (head.hasBrokenParameters()) {
            throw new IllegalStateException("the container found no form in the body");
        }
        Map<String, String[]> parameters = new LinkedHashMap<>();
        QUERY.forEach((name, value) -> parameters.put(name, new String[] {value}));
        return parameters;
    }

    @Override
    public @Nullable Object getAttribute(String name) {
        return attributes.get(name);
    }

    @Override
    public void setAttribute(String name, Object value) {
        attributes.put(name, value);
    }

    @Override
    public void removeAttribute(String name) {
        attributes.remove(name);
    }
}
