package dev.sluice.fuzz;

import static dev.sluice.fuzz.FilterVerdict.require;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.MultipartFilter;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The servlet behind the filter: calls what the fuzzer says, and looks at what it gets. */
final class FilterApplication implements FilterChain {
    /** One octet for what it does about exceptions, the others are calls: bits 0-3 which, bits 4-7 how. */
    static final int HEAD = 9;

    /** Who has the body. */
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
    private final MultipartFilter filter;
    private final BareRequest bare;
    private final BareResponse response;
    private final Input calls;
    private final int reactions;

    private final List<MultipartRequests.Hold> holds = new ArrayList<>();
    private final List<InputStream> streams = new ArrayList<>();
    private final List<Part> kept = new ArrayList<>();
    private final Map<String, byte[]> written = new HashMap<>();
    private final Set<Integer> gone = new HashSet<>();
    private Use use;
    private boolean called;
    private boolean refused;
    private boolean textsKnown;
    private boolean committed;
    private boolean destroyed;
    private int reacted;
    private @Nullable HttpServletRequest seen;
    private @Nullable Exception thrown;

    /**
     * An application.
     *
     * @param eager whether the form is there before
     */
    FilterApplication(
            FilterVerdict verdict,
            MultipartFilter filter,
            BareRequest bare,
            BareResponse response,
            boolean eager,
            Input calls) {
        this.verdict = verdict;
        this.filter = filter;
        this.bare = bare;
        this.response = response;
        this.use = eager ? Use.FORM : Use.NOBODY;
        this.reactions = calls.next();
        this.calls = calls;
    }

    /** {@return whether the filter has called it} */
    boolean wasCalled() {
        return called;
    }

    /** {@return what it threw, or null} */
    @Nullable
    Exception thrown() {
        return thrown;
    }

    /** {@return whether it had begun to answer} */
    boolean hasCommitted() {
        return committed;
    }

    /** {@return whether it has ended the filter in the middle of the request} */
    boolean hasDestroyed() {
        return destroyed;
    }

    boolean holdsForm() {
        return !holds.isEmpty();
    }

    /** {@return the files that it has made of parts} */
    Map<String, byte[]> written() {
        return written;
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse answer) throws IOException, ServletException {
        if (!called && use == Use.FORM) {
            verdict.requireForm();
        }
        called = true;
        HttpServletRequest http = (HttpServletRequest) request;
        seen = http;
        try {
            serve(http);
        } catch (IOException | ServletException | RuntimeException e) {
            thrown = e;
            throw e;
        }
    }

    private void serve(HttpServletRequest request) throws IOException, ServletException {
        while (calls.left() > 0) {
            int octet = calls.next();
            int how = octet >> 4;
            switch (octet & 15) {
                case 12 -> throwOwn(how);
                case 13 -> {
                    nest((how & 1) == 0 ? request : bare);
                    return;
                }
                case 14 -> {
                    committed = true;
                    response.commit();
                }
                case 15 -> {
                    if (how < 12) {
                        return;
                    }
                    destroyed = true;
                    filter.destroy();
                }
                default -> attempt(request, octet & 15, how);
            }
        }
    }

    private static void throwOwn(int how) throws IOException, ServletException {
        switch (how & 3) {
            case 0 -> throw new IOException("of the application");
            case 1 -> throw new ServletException("of the application");
            case 2 -> throw new IllegalStateException("of the application");
            default -> throw new BrokenApplication();
        }
    }

    /** The filter is there twice, or the request is forwarded through it. */
    private void nest(ServletRequest request) throws IOException, ServletException {
        int before = response.getStatus();
        try {
            filter.doFilter(request, response, this);
        } finally {
            require(response.getStatus() == before, "the inner filter has answered");
        }
    }

    private void attempt(HttpServletRequest request, int call, int how) throws IOException, ServletException {
        try {
            ask(request, call, how);
        } catch (IOException | RuntimeException e) {
            switch (reactions >> 2 * (reacted++ & 3) & 3) {
                case 2 -> throw e;
                case 3 -> throw new ServletException("the servlet has failed", e);
                default -> {}
            }
        }
    }

    private void ask(HttpServletRequest request, int call, int how) throws IOException, ServletException {
        switch (call) {
            case 0 -> compare(parts(request));
            case 1 -> one(request, how);
            case 2 -> parameter(request, how);
            case 3 -> parameters(request);
            case 4 -> form(request, use == Use.NOBODY || use == Use.FORM, () -> MultipartRequests.form(request));
            case 5 -> form(request, use == Use.NOBODY, () -> MultipartRequests.form(request, options -> options));
            case 6 -> reader(request, how);
            case 7 -> raw(request, how);
            case 8 -> write(request, how);
            case 9 -> delete(request, how);
            case 10 -> keep(request, how);
            default -> hold(request);
        }
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
                require(!free || destroyed, "the form is not to be had: " + e);
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
    private static boolean isPlain(Exception e) {
        return e instanceof IllegalStateException && !(e instanceof MultipartRequestException);
    }

    private List<Part> parts(HttpServletRequest request) throws IOException, ServletException {
        return ofForm(use == Use.NOBODY || use == Use.FORM, () -> List.copyOf(request.getParts()));
    }

    private void form(HttpServletRequest request, boolean free, Call<MultipartForm> call)
            throws IOException, ServletException {
        List<FormPart> parts = ofForm(free, call).parts();
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

    private void one(HttpServletRequest request, int how) throws IOException, ServletException {
        List<ExpectedForm.Part> expected = verdict.form().parts();
        String name = how < expected.size() ? expected.get(how).name() : "no such part";
        Part part = ofForm(use == Use.NOBODY || use == Use.FORM, () -> new Part[] {request.getPart(name)})[0];
        for (int i = 0; i < expected.size(); i++) {
            if (expected.get(i).name().equals(name)) {
                require(part != null, "there is no part " + name);
                compare(Objects.requireNonNull(part), i);
                return;
            }
        }
        require(part == null, "there is a part " + name);
    }

    private void compare(List<Part> parts) throws IOException {
        require(parts.size() == verdict.form().parts().size(), "parts: " + parts);
        for (int i = 0; i < parts.size(); i++) {
            compare(parts.get(i), i);
        }
    }

    private void compare(Part part, int position) throws IOException {
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
            require(verdict.hasDiskFailed(), "content is not to be had: " + e);
        }
    }

    private static void requireGone(Part part) throws IOException {
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
        boolean free = use == Use.NOBODY || use == Use.FORM;
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

    private void parameters(HttpServletRequest request) throws IOException, ServletException {
        Map<String, List<String>> all = new LinkedHashMap<>();
        ofTexts(request::getParameterMap).forEach((name, values) -> all.put(name, List.of(values)));
        requireParameters(all);
        List<String> names = Collections.list(ofTexts(request::getParameterNames));
        require(names.equals(List.copyOf(all.keySet())), "other names: " + names);
    }

    private void parameter(HttpServletRequest request, int how) throws IOException, ServletException {
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
    private void reader(HttpServletRequest request, int how) throws IOException {
        boolean free = use == Use.NOBODY;
        MultipartReader made;
        try {
            made = MultipartRequests.reader(request);
        } catch (MultipartException e) {
            require(verdict.decoded() == null && e.offset() < 0, "a type is refused that is none to refuse: " + e);
            throw e;
        } catch (IllegalStateException e) {
            require(!free, "the body is not to be had: " + e);
            throw e;
        }
        DecodedBody decoded = Objects.requireNonNull(verdict.decoded(), "a type that is refused");
        use = Use.READER;
        try (MultipartReader reader = made) {
            require(free, "somebody else has the body");
            for (int i = 0; i <= (how & 7); i++) {
                MultipartReader.Part part = reader.nextPart();
                if (part == null) {
                    require(
                            decoded.failure() == null
                                    && i == decoded.parts().size()
                                    && verdict.stream().hasEnded(),
                            "the reader ends after " + i + " parts");
                    return;
                }
                if ((how & 8) == 0 || (i & 1) == 0) {
                    compare(part, content(part, (how & 8) == 0), (how & 8) == 0, decoded, i);
                }
            }
        } catch (IOException e) {
            requireRightForReader(e, decoded);
            throw e;
        }
    }

    /** {@return the content of a part, which is whole} */
    private static byte[] content(MultipartReader.Part part, boolean undecoded) throws IOException {
        if (!undecoded) {
            try (InputStream in = part.inputStream()) {
                return in.readAllBytes();
            }
        }
        Octets content = new Octets(64);
        for (ByteBuf data; (data = part.nextData()) != null; ) {
            byte[] octets = new byte[data.readableBytes()];
            data.readBytes(octets);
            content.add(octets);
        }
        return content.toArray();
    }

    private void compare(
            MultipartReader.Part part, byte[] content, boolean undecoded, DecodedBody decoded, int position) {
        String encoding = undecoded ? "" : encoding(part);
        require(position < decoded.parts().size(), "a part of a refused body is handed out as if it were whole");
        DecodedBody.Part expected = decoded.parts().get(position);
        require(
                expected.name().equals(part.name())
                        && Objects.equals(expected.filename(), part.filename())
                        && expected.index() == part.index(),
                "another part: " + part.name());
        boolean comparable = !encoding.equals("base64") && !encoding.equals("quoted-printable");
        require(!comparable || Arrays.equals(expected.content(), content), "other content of part " + position);
    }

    /** {@return the transfer encoding that is undone, in lower case; empty where none is} */
    private String encoding(MultipartReader.Part part) {
        boolean undone = verdict.options().multipart().preset() == Preset.COMPATIBLE;
        String encoding = undone ? part.headers().first("Content-Transfer-Encoding") : null;
        return encoding == null ? "" : encoding.toLowerCase(Locale.ROOT);
    }

    private void requireRightForReader(IOException e, DecodedBody decoded) {
        if (e instanceof MultipartException malformed) {
            require(
                    FilterVerdict.isSame(decoded.failure(), malformed)
                            || malformed.reason() == Reason.MALFORMED_TRANSFER_ENCODING
                                    && verdict.options().multipart().preset() == Preset.COMPATIBLE,
                    "another refusal: " + e);
        } else {
            require(destroyed || verdict.isRightForReader(e), "reading fails in a way that is not documented: " + e);
        }
    }

    /** Reads the body as it comes. */
    private void raw(HttpServletRequest request, int how) throws IOException {
        ServletInputStream in;
        try {
            in = request.getInputStream();
        } catch (IllegalStateException e) {
            require(use == Use.READER, "the body is not to be had: " + e);
            throw e;
        }
        require(use != Use.READER, "somebody else has the body");
        if (use == Use.NOBODY) {
            use = Use.APPLICATION;
        }
        boolean ended = verdict.stream().hasEnded();
        int before = verdict.stream().position();
        try {
            byte[] octets = in.readNBytes(how * 4);
            require(
                    !ended || octets.length == 0 && verdict.stream().position() == before,
                    "octets come after the end: " + octets.length);
        } catch (IOException e) {
            require(e == verdict.stream().failure(), "reading fails: " + e);
            throw e;
        }
    }

    // ---- what is done with parts

    private @Nullable Part chosen(List<Part> parts, int how) {
        return parts.isEmpty() ? null : parts.get((how & 3) % parts.size());
    }

    private void write(HttpServletRequest request, int how) throws IOException, ServletException {
        List<Part> parts = parts(request);
        Part part = chosen(parts, how);
        if (part == null) {
            return;
        }
        int position = parts.indexOf(part);
        boolean usable = (how & 8) == 0;
        // One for each part: this disk does not replace a file in one step.
        String name = usable ? "w" + position : (how & 4) == 0 ? "../out" : "no/such/directory";
        try {
            part.write(name);
        } catch (IllegalStateException e) {
            require(gone.contains(position), "a part cannot be written: " + e);
            return;
        } catch (IOException e) {
            require(!usable || verdict.hasDiskFailed(), "a part cannot be written: " + e);
            compare(part, position);
            return;
        }
        require(usable && !gone.contains(position), "a part was written to " + name);
        written.put(name, verdict.form().parts().get(position).content());
        gone.add(position);
        requireGone(part);
    }

    private void delete(HttpServletRequest request, int how) throws IOException, ServletException {
        List<Part> parts = parts(request);
        Part part = chosen(parts, how);
        if (part == null) {
            return;
        }
        gone.add(parts.indexOf(part));
        try {
            part.delete();
        } catch (IOException e) {
            require(verdict.hasDiskFailed(), "a part cannot be deleted: " + e);
        }
        requireGone(part);
    }

    /** Opens a part, and forgets to close it. */
    private void keep(HttpServletRequest request, int how) throws IOException, ServletException {
        List<Part> parts = parts(request);
        Part part = chosen(parts, how);
        if (part == null || gone.contains(parts.indexOf(part))) {
            return;
        }
        kept.add(part);
        try {
            InputStream stream = part.getInputStream();
            streams.add(stream);
            if ((how & 4) != 0) {
                byte[] content = verdict.form().parts().get(parts.indexOf(part)).content();
                require(stream.read() == (content.length == 0 ? -1 : content[0] & 0xFF), "another octet");
            }
        } catch (IOException e) {
            require(verdict.hasDiskFailed(), "content is not to be had: " + e);
        }
    }

    private void hold(HttpServletRequest request) {
        try {
            holds.add(MultipartRequests.hold(request));
        } catch (IllegalStateException e) {
            require(destroyed, "the request cannot be held: " + e);
            throw e;
        }
        require(!destroyed, "a request is held that is over");
    }

    // ---- after the request

    /** Looks once more at what is held. */
    void useHold() throws IOException, ServletException {
        HttpServletRequest request = Objects.requireNonNull(seen);
        if (use == Use.FORM && !refused && !destroyed) {
            try {
                compare(parts(request));
            } catch (IOException | RuntimeException e) {
                require(refused, "a form is lost that is held: " + e);
            }
        }
    }

    void letGo() {
        for (MultipartRequests.Hold hold : holds) {
            hold.close();
            hold.close();
        }
    }

    /** Requires that nothing is to be had any more. */
    void requireOver() throws IOException, ServletException {
        HttpServletRequest request = seen;
        if (request != null) {
            try {
                throw new AssertionError("a request that is over has parts: " + request.getParts());
            } catch (IllegalStateException e) {
                require(isPlain(e), "wrong of a request that is over: " + e);
            }
        }
        for (Part part : kept) {
            requireGone(part);
        }
        for (InputStream stream : streams) {
            try {
                throw new AssertionError("a stream of a form that is over goes on: " + stream.read());
            } catch (IOException e) {
                require(e.getMessage() != null, "an exception without a message: " + e.getClass());
            }
        }
    }
}
