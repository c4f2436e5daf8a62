package dev.sluice.fuzz;

import static dev.sluice.fuzz.FilterVerdict.require;

import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** Who has the body of a request, and what is to be had of it then: asks, and requires that the answer is the right one. */
final class BodyOracle {
    private enum Use {
        NOBODY,
        FORM,
        READER,
        APPLICATION
    }

    @FunctionalInterface
    private interface Call<T> {
        T call() throws IOException, ServletException;
    }

    private final FilterVerdict verdict;
    private final Set<Integer> gone = new HashSet<>();
    private Use use;
    private boolean refused;
    private boolean textsKnown;
    private boolean destroyed;

    /**
     * Nobody has asked yet.
     *
     * @param eager whether the form is there before
     */
    BodyOracle(FilterVerdict verdict, boolean eager) {
        this.verdict = verdict;
        this.use = eager ? Use.FORM : Use.NOBODY;
    }

    /** From now on the filter gives nothing out. */
    void destroyed() {
        destroyed = true;
    }

    boolean isDestroyed() {
        return destroyed;
    }

    /** {@return whether the form has been asked for} */
    boolean isForm() {
        return use == Use.FORM;
    }

    /** {@return whether the form is there for whoever still holds it} */
    boolean hasForm() {
        return use == Use.FORM && !refused && !destroyed;
    }

    boolean isRefused() {
        return refused;
    }

    boolean isGone(int position) {
        return gone.contains(position);
    }

    /** The content of a part has been moved or deleted. */
    void gone(int position) {
        gone.add(position);
    }

    private boolean mayHaveForm() {
        return use == Use.NOBODY || use == Use.FORM;
    }

    // ---- the form

    /** Asks for the form, which may be had if {@code free}. */
    private <T> T ofForm(boolean free, Call<T> call) throws IOException, ServletException {
        if (use == Use.NOBODY && !destroyed) {
            use = Use.FORM;
        }
        T result;
        try {
            result = call.call();
        } catch (IOException | RuntimeException e) {
            if (isPlain(e)) {
                require(!free || destroyed, "the form cannot be had: " + e);
            } else {
                require(free && !destroyed, "somebody else has the form: " + e);
                refused = true;
                verdict.requireRight(e, false);
            }
            throw e;
        }
        require(free && !destroyed && !refused, "a form is handed out to somebody who may not have it");
        verdict.requireForm();
        return result;
    }

    /** {@return whether the caller is told that it is wrong} */
    static boolean isPlain(Exception e) {
        return e instanceof IllegalStateException && !(e instanceof MultipartRequestException);
    }

    List<Part> parts(HttpServletRequest request) throws IOException, ServletException {
        return ofForm(mayHaveForm(), () -> List.copyOf(request.getParts()));
    }

    /** Asks for the form as {@code MultipartRequests} gives it. */
    void form(HttpServletRequest request, boolean withOptions) throws IOException, ServletException {
        Call<MultipartForm> call = withOptions
                ? () -> MultipartRequests.form(request, options -> options)
                : () -> MultipartRequests.form(request);
        List<FormPart> parts =
                ofForm(withOptions ? use == Use.NOBODY : mayHaveForm(), call).parts();
        List<ExpectedForm.Part> expected = verdict.form().parts();
        require(parts.size() == expected.size(), "parts: " + parts);
        for (int i = 0; i < parts.size(); i++) {
            FormPart part = parts.get(i);
            require(
                    part.name().equals(expected.get(i).name())
                            && Objects.equals(part.filename(), expected.get(i).filename())
                            && part.size() == expected.get(i).content().length,
                    "another part: " + part);
        }
        compare(parts(request));
    }

    void one(HttpServletRequest request, int how) throws IOException, ServletException {
        List<ExpectedForm.Part> expected = verdict.form().parts();
        String name = how < expected.size() ? expected.get(how).name() : "no such part";
        Part part = ofForm(mayHaveForm(), () -> new Part[] {request.getPart(name)})[0];
        for (int i = 0; i < expected.size(); i++) {
            if (expected.get(i).name().equals(name)) {
                require(part != null, "there is no part " + name);
                compare(Objects.requireNonNull(part), i);
                return;
            }
        }
        require(part == null, "there is a part " + name);
    }

    void compare(List<Part> parts) throws IOException {
        require(parts.size() == verdict.form().parts().size(), "parts: " + parts);
        for (int i = 0; i < parts.size(); i++) {
            compare(parts.get(i), i);
        }
    }

    void compare(Part part, int position) throws IOException {
        ExpectedForm.Part expected = verdict.form().parts().get(position);
        require(
                expected.name().equals(part.getName())
                        && Objects.equals(expected.filename(), part.getSubmittedFileName())
                        && part.getSize() == expected.content().length,
                "another part: " + part);
        if (gone.contains(position)) {
            requireGone(part);
            return;
        }
        try (InputStream in = part.getInputStream()) {
            require(Arrays.equals(expected.content(), in.readAllBytes()), "other content of " + part);
        } catch (IOException e) {
            require(verdict.hasDiskFailed(), "content cannot be had: " + e);
        }
    }

    static void requireGone(Part part) throws IOException {
        try (InputStream in = part.getInputStream()) {
            throw new AssertionError("the content of " + part + " is still there: " + in);
        } catch (IllegalStateException e) {
            require(!(e instanceof MultipartRequestException), "wrong: " + e);
        }
    }

    // ---- parameters

    private static Map<String, List<String>> inQuery() {
        Map<String, List<String>> all = new LinkedHashMap<>();
        BareRequest.QUERY.forEach((name, value) -> all.put(name, List.of(value)));
        return all;
    }

    private Map<String, List<String>> inAll() {
        Map<String, List<String>> all = inQuery();
        verdict.form().texts().forEach((name, inBody) -> {
            List<String> values = new ArrayList<>(all.getOrDefault(name, List.of()));
            values.addAll(inBody);
            all.put(name, values);
        });
        return all;
    }

    private <T> T ofTexts(Call<T> call) throws IOException, ServletException {
        boolean free = mayHaveForm();
        if (use == Use.NOBODY && !destroyed) {
            use = Use.FORM;
        }
        try {
            return call.call();
        } catch (RuntimeException e) {
            require(free && !destroyed && !textsKnown, "parameters fail: " + e);
            require(!isPlain(e), "parameters fail of what is no refusal: " + e);
            verdict.requireRight(e, true);
            refused |= !verdict.form().isWhole();
            throw e;
        }
    }

    private void requireParameters(Map<String, List<String>> actual) {
        boolean ofQuery = actual.equals(inQuery());
        if (use == Use.READER || use == Use.APPLICATION) {
            require(ofQuery, "other parameters than those of the query: " + actual);
        } else if (!destroyed) {
            verdict.requireForm();
            require(verdict.form().textsRefusal() == null, "parameters are too large");
            require(!refused, "parameters of a form that was refused");
            require(actual.equals(inAll()), "other parameters: " + actual + ", not " + inAll());
            textsKnown = true;
        } else {
            require(ofQuery || verdict.form().isWhole() && actual.equals(inAll()), "other parameters: " + actual);
        }
    }

    void parameters(HttpServletRequest request) throws IOException, ServletException {
        Map<String, List<String>> all = new LinkedHashMap<>();
        ofTexts(request::getParameterMap).forEach((name, values) -> all.put(name, List.of(values)));
        requireParameters(all);
        List<String> names = Collections.list(ofTexts(request::getParameterNames));
        require(names.equals(List.copyOf(all.keySet())), "other names: " + names);
    }

    void parameter(HttpServletRequest request, int how) throws IOException, ServletException {
        List<String> names = new ArrayList<>(inAll().keySet());
        String name = how < names.size() ? names.get(how) : "no such name";
        String first = ofTexts(() -> new String[] {request.getParameter(name)})[0];
        String[] values = ofTexts(() -> new String[][] {request.getParameterValues(name)})[0];
        List<String> all = values == null ? List.of() : List.of(values);
        require(Objects.equals(first, all.isEmpty() ? null : all.get(0)), "the first value is " + first);
        List<String> ofQuery = inQuery().getOrDefault(name, List.of());
        boolean free = use == Use.FORM && !destroyed;
        require(
                all.equals(free ? inAll().getOrDefault(name, List.of()) : ofQuery)
                        || destroyed && all.equals(inAll().getOrDefault(name, List.of())),
                "other values of " + name + ": " + all);
        if (free) {
            verdict.requireForm();
            require(verdict.form().textsRefusal() == null && !refused, "parameters of a form that was refused");
            textsKnown = true;
        }
    }

    // ---- the body by other ways

    /** Reads some parts while they come. */
    void reader(HttpServletRequest request, int how) throws IOException {
        boolean free = use == Use.NOBODY;
        MultipartReader made;
        try {
            made = MultipartRequests.reader(request);
        } catch (MultipartException e) {
            require(verdict.decoded() == null && e.offset() < 0, "a type is refused that is none to refuse: " + e);
            throw e;
        } catch (IllegalStateException e) {
            require(!free, "the body cannot be had: " + e);
            throw e;
        }
        DecodedBody decoded = Objects.requireNonNull(verdict.decoded(), "a type that is refused");
        use = Use.READER;
        ReaderOracle oracle = new ReaderOracle(verdict, decoded);
        try (MultipartReader reader = made) {
            require(free, "somebody else has the body");
            oracle.read(reader, how);
        } catch (IOException e) {
            oracle.requireRight(e, destroyed);
            throw e;
        }
    }

    /** Reads the body as it comes. */
    void raw(HttpServletRequest request, int how) throws IOException {
        ServletInputStream in;
        try {
            in = request.getInputStream();
        } catch (IllegalStateException e) {
            require(use == Use.READER, "the body cannot be had: " + e);
            throw e;
        }
        require(use != Use.READER, "somebody else has the body");
        if (use == Use.NOBODY) {
            use = Use.APPLICATION;
        }
        boolean ended = verdict.stream().hasEnded();
        int before = verdict.stream().position();
        try {
            byte[] bytes = in.readNBytes(how * 4);
            require(
                    !ended || bytes.length == 0 && verdict.stream().position() == before,
                    "bytes come after the end: " + bytes.length);
        } catch (IOException e) {
            require(e == verdict.stream().failure(), "reading fails: " + e);
            throw e;
        }
    }
}
