package dev.sluice.fuzz;

import static dev.sluice.fuzz.FilterVerdict.require;

import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormPart;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The servlet after the filter. It uses the request in one way chosen by the fuzzer, and requires that the result agrees with
 * the expected form.
 *
 * <pre>
 * byte 0   bits 0-2 the use, bit 3 commits the response first, bits 4-5 the handling of exceptions
 * byte 1   the argument of the use
 * </pre>
 */
final class FilterApplication implements FilterChain {
    static final int HEAD = 2;

    private static final int COMMITS = 8;
    private static final int RETHROWS = 2;
    private static final int WRAPS = 3;

    private final FilterVerdict verdict;
    private final BareResponse response;
    private final boolean eager;
    private final int flags;
    private final int argument;
    private @Nullable HttpServletRequest seen;
    private @Nullable Exception thrown;

    /** @param eager whether the filter has already parsed the form */
    FilterApplication(FilterVerdict verdict, BareResponse response, boolean eager, Input choices) {
        this.verdict = verdict;
        this.response = response;
        this.eager = eager;
        this.flags = choices.next();
        this.argument = choices.next();
    }

    boolean wasCalled() {
        return seen != null;
    }

    /** {@return the exception that left this application, or null} */
    @Nullable
    Exception thrown() {
        return thrown;
    }

    boolean hasCommitted() {
        return seen != null && (flags & COMMITS) != 0;
    }

    /** {@return whether the application reads the body itself and may leave some of it unread} */
    boolean ownsBody() {
        return seen != null && ((flags & 7) == 4 || (flags & 7) == 5);
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse answer) throws IOException, ServletException {
        HttpServletRequest http = (HttpServletRequest) request;
        seen = http;
        if (eager) {
            verdict.requireForm();
        }
        if ((flags & COMMITS) != 0) {
            response.commit();
        }
        try {
            use(http);
        } catch (IOException | RuntimeException e) {
            int handling = flags >> 4 & 3;
            if (handling == RETHROWS) {
                thrown = e;
                throw e;
            } else if (handling == WRAPS) {
                ServletException wrapped = new ServletException("the servlet failed", e);
                thrown = wrapped;
                throw wrapped;
            }
        }
    }

    private void use(HttpServletRequest request) throws IOException, ServletException {
        switch (flags & 7) {
            case 0 -> compare(parts(request));
            case 1 -> part(request);
            case 2 -> parameters(request);
            case 3 -> form(request);
            case 4 -> reader(request);
            case 5 -> raw(request);
            case 6 -> delete(request);
            default -> throw new IllegalStateException("thrown by the application");
        }
    }

    private interface Call<T> {
        T call() throws IOException, ServletException;
    }

    /** {@return the result of a call that requires the form; a failure must have a documented reason} */
    private <T> T ofForm(Call<T> call, boolean ofTexts) throws IOException, ServletException {
        T result;
        try {
            result = call.call();
        } catch (IOException | RuntimeException e) {
            require(!isPlain(e), "the request has no form: " + e);
            verdict.requireRight(e, ofTexts);
            throw e;
        }
        verdict.requireForm();
        return result;
    }

    /** {@return whether the exception reports a mistake in the application} */
    private static boolean isPlain(Exception e) {
        return e instanceof IllegalStateException && !(e instanceof MultipartRequestException);
    }

    // ---- parts

    private List<Part> parts(HttpServletRequest request) throws IOException, ServletException {
        return ofForm(() -> List.copyOf(request.getParts()), false);
    }

    private void part(HttpServletRequest request) throws IOException, ServletException {
        List<ExpectedForm.Part> expected = verdict.form().parts();
        String name = argument < expected.size() ? expected.get(argument).name() : "no such part";
        Part part = ofForm(() -> new Part[] {request.getPart(name)}, false)[0];
        for (ExpectedForm.Part each : expected) {
            if (each.name().equals(name)) {
                compare(Objects.requireNonNull(part, () -> "part missing: " + name), each);
                return;
            }
        }
        require(part == null, "unexpected part " + name);
    }

    private void form(HttpServletRequest request) throws IOException, ServletException {
        List<FormPart> parts =
                ofForm(() -> MultipartRequests.form(request), false).parts();
        List<ExpectedForm.Part> expected = verdict.form().parts();
        require(parts.size() == expected.size(), "wrong parts: " + parts);
        for (int i = 0; i < parts.size(); i++) {
            FormPart part = parts.get(i);
            require(
                    part.name().equals(expected.get(i).name())
                            && Objects.equals(part.filename(), expected.get(i).filename())
                            && part.size() == expected.get(i).content().length,
                    "wrong part: " + part);
        }
        compare(parts(request));
    }

    private void compare(List<Part> parts) throws IOException {
        List<ExpectedForm.Part> expected = verdict.form().parts();
        require(parts.size() == expected.size(), "wrong parts: " + parts);
        for (int i = 0; i < parts.size(); i++) {
            compare(parts.get(i), expected.get(i));
        }
    }

    private void compare(Part part, ExpectedForm.Part expected) throws IOException {
        require(
                expected.name().equals(part.getName())
                        && Objects.equals(expected.filename(), part.getSubmittedFileName())
                        && part.getSize() == expected.content().length,
                "wrong part: " + part);
        try (InputStream in = part.getInputStream()) {
            require(Arrays.equals(expected.content(), in.readAllBytes()), "wrong content of " + part);
        } catch (IOException e) {
            require(verdict.hasDiskFailed(), "cannot read the content: " + e);
        }
    }

    /** Deletes a part, which must not change the parameters. */
    private void delete(HttpServletRequest request) throws IOException, ServletException {
        List<Part> parts = parts(request);
        if (!parts.isEmpty()) {
            Part part = parts.get(argument % parts.size());
            try {
                part.delete();
            } catch (IOException e) {
                require(verdict.hasDiskFailed(), "cannot delete a part: " + e);
            }
            try (InputStream in = part.getInputStream()) {
                throw new AssertionError("the content of " + part + " was not deleted: " + in);
            } catch (IllegalStateException e) {
                require(isPlain(e), "wrong exception for a deleted part: " + e);
            }
        }
        parameters(request);
    }

    // ---- parameters

    private Map<String, List<String>> expectedParameters() {
        Map<String, List<String>> all = new LinkedHashMap<>();
        BareRequest.QUERY.forEach((name, value) -> all.put(name, List.of(value)));
        verdict.form().texts().forEach((name, inBody) -> {
            List<String> values = new ArrayList<>(all.getOrDefault(name, List.of()));
            values.addAll(inBody);
            all.put(name, values);
        });
        return all;
    }

    private void parameters(HttpServletRequest request) throws IOException, ServletException {
        Map<String, List<String>> actual = new LinkedHashMap<>();
        ofForm(request::getParameterMap, true).forEach((name, values) -> actual.put(name, List.of(values)));
        require(verdict.form().textsRefusal() == null, "the parameters are too large");
        Map<String, List<String>> expected = expectedParameters();
        require(actual.equals(expected), "wrong parameters: " + actual + ", expected " + expected);
        List<String> names = Collections.list(request.getParameterNames());
        require(names.equals(List.copyOf(actual.keySet())), "wrong names: " + names);
        for (String name : names) {
            List<String> values = List.of(request.getParameterValues(name));
            require(
                    values.equals(actual.get(name)) && values.get(0).equals(request.getParameter(name)),
                    "wrong values of " + name + ": " + values);
        }
    }

    // ---- the body without a form

    private void reader(HttpServletRequest request) throws IOException, ServletException {
        MultipartReader made;
        try {
            made = MultipartRequests.reader(request);
        } catch (MultipartException e) {
            require(verdict.decoded() == null && e.offset() < 0, "a valid Content-Type was rejected: " + e);
            throw e;
        } catch (IllegalStateException e) {
            require(eager, "no reader was created for an unread body: " + e);
            throw e;
        }
        require(!eager, "a reader was created for a body that was parsed before");
        ReaderOracle oracle = new ReaderOracle(
                verdict, Objects.requireNonNull(verdict.decoded(), "a reader was created for an invalid Content-Type"));
        try (MultipartReader reader = made) {
            oracle.read(reader, argument);
        } catch (IOException e) {
            oracle.requireRight(e);
            throw e;
        }
        requireNoForm(request);
    }

    private void raw(HttpServletRequest request) throws IOException, ServletException {
        try {
            byte[] bytes = request.getInputStream().readNBytes(argument);
            require(!eager || bytes.length == 0, "bytes were read from a body that was parsed before: " + bytes.length);
        } catch (IOException e) {
            require(e == verdict.stream().failure(), "reading fails: " + e);
            throw e;
        }
        if (!eager) {
            requireNoForm(request);
        }
    }

    /** Requires that a request whose body the application reads itself has no form. */
    private static void requireNoForm(HttpServletRequest request) throws IOException, ServletException {
        try {
            throw new AssertionError("the body was used twice: " + request.getParts());
        } catch (IllegalStateException e) {
            require(isPlain(e), "wrong exception for a body that the application reads: " + e);
        }
    }

    /** Requires that a completed request has no form. */
    void requireOver() throws IOException, ServletException {
        if (seen != null) {
            requireNoForm(seen);
        }
    }
}
