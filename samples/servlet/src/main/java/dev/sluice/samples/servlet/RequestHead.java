package dev.sluice.samples.servlet;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.HeadRules;
import dev.sluice.samples.report.PresetName;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A filter that checks the head of a request before its body is read, and finds the preset named by the query. It must
 * run before the multipart filter, so that {@code getParameterValues} reads only the query.
 */
final class RequestHead extends HttpFilter {
    private static final long serialVersionUID = 1L;
    private static final long MAX_DRAIN_BYTES = 1 << 20;
    private static final long MAX_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long DRAIN_POLL_MILLIS = 10;
    private static final String PRESET = RequestHead.class.getName() + ".preset";

    private final PresetName byDefault;

    RequestHead(PresetName byDefault) {
        this.byDefault = byDefault;
    }

    /** {@return the preset of a request that has passed this filter} */
    static PresetName preset(ServletRequest request) {
        if (request.getAttribute(PRESET) instanceof PresetName preset) {
            return preset;
        }
        throw new IllegalStateException("the request has not passed the filter");
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        // The inspector's charset, regardless of the Content-Type: names are UTF-8 (RFC 7578 section 5.1).
        request.setCharacterEncoding("UTF-8");
        ErrorResponse fault = fault(request);
        if (fault == null) {
            chain.doFilter(request, response);
            return;
        }
        if (fault.status() == HttpServletResponse.SC_METHOD_NOT_ALLOWED) {
            response.setHeader("Allow", "POST");
        }
        boolean drains = isWorthDraining(request);
        if (!drains) {
            response.setHeader("Connection", "close");
        }
        Responses.error(response, fault);
        if (drains) {
            // Closing a connection with unread bytes resets it, and the client would lose the response.
            response.flushBuffer();
            drain(request.getInputStream(), request.getContentLengthLong());
        }
    }

    /** Discards the body for at most two seconds. A blocking read could wait longer for a slow client. */
    private static void drain(InputStream in, long length) throws IOException {
        long until = System.nanoTime() + MAX_DRAIN_NANOS;
        byte[] scrap = new byte[8192];
        long left = length;
        while (left > 0 && System.nanoTime() - until < 0) {
            int count = Math.min(in.available(), scrap.length);
            if (count > 0) {
                count = in.read(scrap, 0, count);
                if (count < 0) {
                    return;
                }
                left -= count;
                continue;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(DRAIN_POLL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static boolean isWorthDraining(HttpServletRequest request) {
        long length = request.getContentLengthLong();
        return length >= 0 && length <= MAX_DRAIN_BYTES && request.getHeader("Expect") == null;
    }

    private @Nullable ErrorResponse fault(HttpServletRequest request) {
        if (!request.getMethod().equals("POST")) {
            return ErrorResponse.http(405, "METHOD_NOT_ALLOWED", "only POST is allowed");
        }
        List<String> types = Collections.list(request.getHeaders("Content-Type"));
        // For a URL-encoded body, getParameterValues would read all of it. The type is rejected below.
        boolean urlEncoded =
                types.stream().anyMatch(type -> type.toLowerCase(Locale.ROOT).contains("x-www-form-urlencoded"));
        String[] given = urlEncoded ? null : request.getParameterValues("preset");
        PresetName preset = given == null ? byDefault : PresetName.of(List.of(given));
        request.setAttribute(PRESET, preset);
        ErrorResponse fault = HeadRules.fault(
                preset,
                request.getHeader("Origin"),
                String.valueOf(request.getHeader("Host")),
                request.getHeader("Content-Encoding") != null,
                types);
        if (preset == null || fault != null) {
            return fault;
        }
        return typeFault(types.isEmpty() ? null : types.get(0), preset);
    }

    /** Rejects other types. The multipart filter would pass them on, but these endpoints only accept forms. */
    private static @Nullable ErrorResponse typeFault(@Nullable String type, PresetName preset) {
        try {
            Boundary.formData(type, preset.preset());
            return null;
        } catch (MultipartException e) {
            return ErrorResponse.of(e);
        }
    }
}
