package dev.sluice.fuzz;

import static dev.sluice.fuzz.FilterVerdict.require;

import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The servlet behind the filter: calls what the fuzzer says, and has {@link BodyOracle} look at what it gets. */
final class FilterApplication implements FilterChain {
    /** One byte for what it does about exceptions, the others are calls: bits 0-3 which, bits 4-7 how. */
    static final int HEAD = 9;

    private final FilterVerdict verdict;
    private final BodyOracle body;
    private final SluiceFilter filter;
    private final BareRequest bare;
    private final BareResponse response;
    private final Input calls;
    private final int reactions;

    private final List<MultipartRequests.Hold> holds = new ArrayList<>();
    private final List<InputStream> streams = new ArrayList<>();
    private final List<Part> kept = new ArrayList<>();
    private final Map<String, byte[]> written = new HashMap<>();
    private boolean called;
    private boolean committed;
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
            SluiceFilter filter,
            BareRequest bare,
            BareResponse response,
            boolean eager,
            Input calls) {
        this.verdict = verdict;
        this.filter = filter;
        this.bare = bare;
        this.response = response;
        this.body = new BodyOracle(verdict, eager);
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
        return body.isDestroyed();
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
        if (!called && body.isForm()) {
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
            int b = calls.next();
            int how = b >> 4;
            switch (b & 15) {
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
                    body.destroyed();
                    filter.destroy();
                }
                default -> attempt(request, b & 15, how);
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
            case 0 -> body.compare(body.parts(request));
            case 1 -> body.one(request, how);
            case 2 -> body.parameter(request, how);
            case 3 -> body.parameters(request);
            case 4 -> body.form(request, false);
            case 5 -> body.form(request, true);
            case 6 -> body.reader(request, how);
            case 7 -> body.raw(request, how);
            case 8 -> use(request, how, (part, position) -> write(part, position, how));
            case 9 -> use(request, how, this::delete);
            case 10 -> use(request, how, (part, position) -> keep(part, position, (how & 4) != 0));
            default -> hold(request);
        }
    }

    // ---- what is done with parts

    @FunctionalInterface
    private interface Use {
        void of(Part part, int position) throws IOException;
    }

    /** Does something with the part that {@code how} chooses, if there is any. */
    private void use(HttpServletRequest request, int how, Use use) throws IOException, ServletException {
        List<Part> parts = body.parts(request);
        if (!parts.isEmpty()) {
            int position = (how & 3) % parts.size();
            use.of(parts.get(position), position);
        }
    }

    private void write(Part part, int position, int how) throws IOException {
        boolean usable = (how & 8) == 0;
        // One for each part: this disk does not replace a file in one step.
        String name = usable ? "w" + position : (how & 4) == 0 ? "../out" : "no/such/directory";
        try {
            part.write(name);
        } catch (IllegalStateException e) {
            require(body.isGone(position), "a part cannot be written: " + e);
            return;
        } catch (IOException e) {
            require(!usable || verdict.hasDiskFailed(), "a part cannot be written: " + e);
            body.compare(part, position);
            return;
        }
        require(usable && !body.isGone(position), "a part was written to " + name);
        written.put(name, verdict.form().parts().get(position).content());
        body.gone(position);
        BodyOracle.requireGone(part);
    }

    private void delete(Part part, int position) throws IOException {
        body.gone(position);
        try {
            part.delete();
        } catch (IOException e) {
            require(verdict.hasDiskFailed(), "a part cannot be deleted: " + e);
        }
        BodyOracle.requireGone(part);
    }

    /** Opens a part, and forgets to close it. */
    private void keep(Part part, int position, boolean read) {
        if (body.isGone(position)) {
            return;
        }
        kept.add(part);
        try {
            InputStream stream = part.getInputStream();
            streams.add(stream);
            if (read) {
                byte[] content = verdict.form().parts().get(position).content();
                require(stream.read() == (content.length == 0 ? -1 : content[0] & 0xFF), "another byte");
            }
        } catch (IOException e) {
            require(verdict.hasDiskFailed(), "content cannot be had: " + e);
        }
    }

    private void hold(HttpServletRequest request) {
        try {
            holds.add(MultipartRequests.hold(request));
        } catch (IllegalStateException e) {
            require(body.isDestroyed(), "the request cannot be held: " + e);
            throw e;
        }
        require(!body.isDestroyed(), "a request is held that is over");
    }

    // ---- after the request

    /** Looks once more at what is held. */
    void useHold() throws IOException, ServletException {
        HttpServletRequest request = Objects.requireNonNull(seen);
        if (body.hasForm()) {
            try {
                body.compare(body.parts(request));
            } catch (IOException | RuntimeException e) {
                require(body.isRefused(), "a form is lost that is held: " + e);
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
                require(BodyOracle.isPlain(e), "wrong of a request that is over: " + e);
            }
        }
        for (Part part : kept) {
            BodyOracle.requireGone(part);
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
