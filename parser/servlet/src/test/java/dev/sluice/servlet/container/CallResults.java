package dev.sluice.servlet.container;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/** Formats the results of servlet API calls as text that can be compared. */
final class CallResults {
    private CallResults() {}

    static String parameters(HttpServletRequest request) {
        return request.getParameterMap().entrySet().stream()
                .map(each -> each.getKey() + "=" + String.join(",", each.getValue()))
                .collect(Collectors.joining(" "));
    }

    static String parameterNames(HttpServletRequest request) {
        return String.join(" ", Collections.list(request.getParameterNames()));
    }

    static String values(HttpServletRequest request, String name) {
        return Arrays.toString(request.getParameterValues(name));
    }

    /** {@return the names and sizes of all parts, in order} */
    static String parts(HttpServletRequest request) throws IOException, ServletException {
        return request.getParts().stream()
                .map(part -> part.getName() + ":" + part.getSize())
                .collect(Collectors.joining(" "));
    }

    static String text(Part part) throws IOException {
        try (InputStream in = part.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** {@return the names of headers in their original case, sorted because the specification does not define the order} */
    static String names(Collection<String> names) {
        return names.stream().sorted(String.CASE_INSENSITIVE_ORDER).collect(Collectors.joining(" "));
    }

    /** {@return the result of {@code callable}, or the type of its exception} */
    static String attempt(Callable<?> callable) {
        try {
            return String.valueOf(callable.call());
        } catch (Exception e) {
            return kind(e);
        }
    }

    /** {@return the result of {@code callable}, or {@code refused} if it throws} */
    static String orRejected(Callable<String> callable) {
        try {
            return callable.call();
        } catch (Exception e) {
            return "refused";
        }
    }

    /** {@return the name of the exception type that callers can catch in every container} */
    private static String kind(Exception e) {
        for (Class<?> known : List.of(IllegalStateException.class, IllegalArgumentException.class)) {
            if (known.isInstance(e)) {
                return known.getSimpleName();
            }
        }
        return e instanceof IOException
                ? "IOException"
                : e instanceof ServletException
                        ? "ServletException"
                        : e.getClass().getSimpleName();
    }
}
