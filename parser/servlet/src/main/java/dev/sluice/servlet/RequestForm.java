package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.StringTokenizer;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The body of one request: who has it, and the form that is in it. */
final class RequestForm {
    private static final String READ_BEFORE =
            "something has read the body of a request, or its beginning, before SluiceFilter:"
                    + " map SluiceFilter in front of every filter that reads the body or asks for parameters (in Spring Boot"
                    + " with Ordered.HIGHEST_PRECEDENCE)";

    /** Who has the body. */
    enum Use {
        NOBODY,
        REFUSED,
        FORM,
        ASYNC_FORM,
        READER,
        APPLICATION
    }

    final HttpServletRequest source;
    private final RequestLife life;
    private final long announced;
    /** Whether an answer can close the connection: one of HTTP/2 has no such header, and a client takes it for an error. */
    private final boolean mayClose;

    private final AtomicReference<Use> use = new AtomicReference<>(Use.NOBODY);
    final CompletableFuture<MultipartForm> future = new CompletableFuture<>();
    private final AtomicReference<@Nullable FieldTexts> texts = new AtomicReference<>();

    private volatile FormService service;
    private volatile FormOptions options;
    private volatile @Nullable MultipartRequestException textsRefusal;
    private volatile @Nullable BodyStream body;
    private volatile @Nullable Thread parser;
    private volatile boolean encodingSet;

    RequestForm(HttpServletRequest source, FormService service, RequestLife life) {
        this.source = source;
        this.life = life;
        this.announced = source.getContentLengthLong();
        this.mayClose = source.getProtocol().startsWith("HTTP/1");
        this.service = service;
        this.options = service.options(source);
    }

    /** Has it taken by another filter, with the options of that one. */
    void takenBy(FormService other) {
        service = other;
        options = other.options(source);
    }

    FormService service() {
        return service;
    }

    /** {@return how the form is taken, unless somebody says so for this request} */
    FormOptions options() {
        return options;
    }

    /** Has this form taken otherwise. */
    void options(FormOptions changed) {
        options = changed;
    }

    // ---- who has the body

    /** Takes the body for something other than the form. {@return whether nobody had it, or {@code next} has it} */
    boolean take(Use next) {
        return use.compareAndSet(Use.NOBODY, next) || use.get() == next && next == Use.APPLICATION;
    }

    /** Undoes {@link #take}, for somebody who has not read anything. */
    void giveBack(Use taken) {
        use.compareAndSet(taken, Use.NOBODY);
    }

    IllegalStateException taken() {
        return new IllegalStateException(
                switch (Objects.requireNonNull(use.get())) {
                    case NOBODY -> "the body of the request has not been read";
                    case REFUSED -> "the body of the request has been refused, and was not read";
                    case FORM ->
                        "the form of the request has already been parsed, by getParts, getParameter or Spring MVC: take the"
                                + " form that is there with MultipartRequests.form(request), or call this before (with"
                                + " spring.servlet.multipart.resolve-lazily=true in Spring Boot)";
                    case ASYNC_FORM -> "the form of the request is being received: wait for AsyncForm.completion()";
                    case READER -> "the body of the request is read part by part, through MultipartRequests.reader";
                    case APPLICATION ->
                        "the application has already called getInputStream() or getReader(), and reads the body itself";
                });
    }

    /** {@return whether the form may still be, or has been, parsed here} */
    boolean hasForm() {
        Use now = use.get();
        return now == Use.NOBODY || now == Use.REFUSED || now == Use.FORM || now == Use.ASYNC_FORM && future.isDone();
    }

    boolean isTaken() {
        return use.get() != Use.NOBODY;
    }

    /** {@return whether the body was given to nobody, and is unread} */
    boolean isRefused() {
        return use.get() == Use.REFUSED;
    }

    /** {@return the exception that calls for the form throw; null if there is none, or it is of another type} */
    @Nullable
    MultipartRequestException refusal() {
        return future.handle((whole, failure) -> failure).getNow(null) instanceof MultipartRequestException known
                ? known
                : null;
    }

    /** Rejects the body unread. Calls for the form throw {@code refusal}. */
    void refuse(MultipartRequestException refusal) {
        use.set(Use.REFUSED);
        Forms.reportRejected(options, refusal.getCause() instanceof MultipartException known ? known.reason() : null);
        future.completeExceptionally(refusal);
    }

    // ---- the body

    static FormHead head(HttpServletRequest request) {
        List<String> types = Collections.list(request.getHeaders("Content-Type"));
        List<String> encodings = Collections.list(request.getHeaders("Content-Encoding"));
        @Nullable String type = request.getContentType(); // which others may have changed
        return new FormHead(
                types.size() > 1 ? types : type == null ? List.of() : List.of(type),
                encodings.isEmpty() ? null : String.join(", ", encodings),
                request.getContentLengthLong(),
                request.getHeader("Expect") != null);
    }

    /** @param paced options with the minimum rate, where nobody else looks at it */
    BodyStream open(@Nullable FormOptions paced) throws IOException {
        BodyStream opened = new BodyStream(source.getInputStream(), this::isBodyGone, paced);
        body = opened;
        return opened;
    }

    /** Once the container is done with the request, its stream may be that of the next one on the connection. */
    private boolean isBodyGone() {
        return service.isClosed() || life.isRequestOver();
    }

    /** Remembers that the application set the character encoding after the filter. */
    void encodingSet() {
        encodingSet = true;
    }

    /** {@return the charset that the application set for the request, if it is known and keeps ASCII, or null} */
    @Nullable
    Charset charset() {
        Charset set = known(source.getCharacterEncoding());
        if (set == null || set.equals(StandardCharsets.UTF_8)) {
            return set;
        }
        try {
            options.toBuilder().headerCharset(set);
        } catch (IllegalArgumentException e) { // it does not keep ASCII
            return null;
        }
        return encodingSet || !isOfClient(set) ? set : null;
    }

    /** {@return whether the Content-Type names {@code charset}: the container takes the encoding from there if none is set} */
    private boolean isOfClient(Charset charset) {
        StringTokenizer parameters = new StringTokenizer(String.valueOf(source.getContentType()), ";");
        while (parameters.hasMoreTokens()) {
            String parameter = parameters.nextToken();
            int equals = parameter.indexOf('=') + 1;
            if (parameter.substring(0, equals).strip().equalsIgnoreCase("charset=")
                    && charset.equals(known(parameter
                            .substring(equals)
                            .strip()
                            .replace('"', ' ')
                            .strip()))) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable Charset known(@Nullable String name) {
        try {
            return name == null ? null : Charset.forName(name);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** {@return the options with names in the charset of the request, where it has one and the options name no other than UTF-8} */
    FormOptions inCharset(FormOptions given) {
        Charset named = charset();
        if (named == null
                || named.equals(StandardCharsets.UTF_8)
                || !given.multipart().headerCharset().equals(StandardCharsets.UTF_8)) {
            return given;
        }
        return given.toBuilder().headerCharset(named).build();
    }

    // ---- the form

    /** {@return the form, which is parsed now if it has not been; other threads that ask meanwhile wait} */
    MultipartForm parsed() throws IOException {
        life.checkNotOver();
        if (use.compareAndSet(Use.NOBODY, Use.FORM)) {
            parse();
        } else if (!hasForm()) {
            throw taken();
        }
        return result();
    }

    MultipartForm parsedBy(FormOptions changed) throws IOException {
        life.checkNotOver();
        if (!take(Use.FORM)) {
            throw taken();
        }
        options = changed;
        parse();
        return result();
    }

    private MultipartForm result() throws IOException {
        if (parser == Thread.currentThread()) {
            throw new IllegalStateException("the form is being parsed by the caller itself");
        }
        try {
            return future.join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IOException gone) {
                throw gone;
            } else if (cause instanceof RuntimeException unchecked) {
                throw unchecked;
            } else if (cause instanceof Error error) {
                throw error;
            }
            throw e;
        }
    }

    private void parse() {
        try {
            life.hold();
        } catch (IllegalStateException e) { // the request has just ended; others may wait already
            future.completeExceptionally(e);
            return;
        }
        parser = Thread.currentThread();
        try {
            if (life.isRequestOver()) { // though it is held
                throw new IllegalStateException(
                        "the request is over, and its body was not read: ask for the form before");
            }
            complete(read());
        } catch (IOException | RuntimeException | Error e) {
            future.completeExceptionally(e);
        } finally {
            parser = null;
            life.release();
        }
    }

    private MultipartForm read() throws IOException {
        BodyStream in = open(null);
        try {
            return whole(service.forms.read(in, head(source), inCharset(options)), in.count());
        } catch (IOException e) {
            if (in.isClientFailure(e) && !MultipartRequestException.isOfContainer(e)) {
                throw e;
            }
            throw refusal(e, in.count(), !in.hasEnded());
        }
    }

    /** {@return the form, if the body was there from its beginning} */
    MultipartForm whole(MultipartForm parsed, long received) {
        if (received < announced) {
            parsed.close();
            throw readBefore();
        }
        return parsed;
    }

    /** {@return what to throw instead of what a form failed with} */
    MultipartRequestException refusal(IOException failure, long received, boolean closesConnection) {
        boolean nothing = received == 0 && announced > 0;
        return nothing && failure instanceof MultipartException refused && refused.reason() == Reason.TRUNCATED
                ? readBefore()
                : MultipartRequestException.of(failure, closesConnection && mayClose);
    }

    private MultipartRequestException readBefore() {
        service.complain(READ_BEFORE);
        return MultipartRequestException.ofSetUp(READ_BEFORE);
    }

    /** Hands the form to whoever waits for it, or closes it if the request ended meanwhile. */
    void complete(MultipartForm parsed) {
        future.complete(parsed);
        if (life.isOver()) {
            parsed.close();
        }
    }

    /** {@return the texts of the fields of the body; none where somebody else has the body} */
    FieldTexts texts() {
        FieldTexts known = texts.get();
        if (known != null) {
            return known;
        }
        if (!hasForm() || life.isOver()) {
            return FieldTexts.NONE;
        }
        MultipartRequestException refusal = textsRefusal;
        if (refusal != null) {
            throw refusal;
        }
        MultipartForm parsed;
        try {
            parsed = parsed();
        } catch (IOException e) {
            throw MultipartRequestException.clientGone(e, mayClose);
        } catch (CancellationException | CompletionException e) { // of an asynchronous form: nothing the client did
            return FieldTexts.NONE;
        }
        FieldTexts read;
        try {
            read = FieldTexts.of(parsed, options, charset());
        } catch (IOException e) {
            refusal = MultipartRequestException.of(e, false);
            textsRefusal = refusal;
            throw refusal;
        }
        if (texts.compareAndSet(null, read)) {
            if (life.isOver()) {
                read.close(); // the end came meanwhile, and has not seen them
            }
            return read;
        }
        read.close();
        return texts();
    }

    /** Reads the texts while the fields are there. */
    void keepTexts() {
        try {
            texts();
        } catch (IllegalStateException e) {
            // there is no form: whoever asks for them will hear of it
        }
    }

    /** {@return the form if it is there, for an error page; or null} */
    @Nullable
    MultipartForm left() {
        return life.isOver() || !future.isDone() || future.isCompletedExceptionally() ? null : future.join();
    }

    /** {@return the texts of a form that is there, or was when this was asked before; for an error page} */
    FieldTexts textsLeft() {
        if (left() != null) {
            keepTexts();
        }
        FieldTexts known = texts.get();
        return known != null ? known : FieldTexts.NONE;
    }

    /** Wakes whoever waits for the client. */
    void shutDown() {
        BodyStream open = body;
        if (open != null) {
            open.shutDown();
        }
    }

    /** Closes what there is: once, when nobody holds the request any more. */
    void end() {
        if (future.isDone() && !future.isCompletedExceptionally()) {
            future.join().close();
        }
        FieldTexts known = texts.get();
        if (known != null) {
            known.close();
        }
    }
}
