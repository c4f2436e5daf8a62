package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The body of one request, its form, and the texts of the form's fields. The body has one {@linkplain BodyOwner owner},
 * and the first claim wins. A form is parsed once, by the thread that claims it. Other threads wait for the result in
 * {@link #future}.
 */
final class RequestForm {
    private static final String READ_BEFORE = "all or part of a request body was read before SluiceFilter:"
            + " map SluiceFilter before every filter that reads the body or the parameters (in Spring Boot with"
            + " Ordered.HIGHEST_PRECEDENCE)";

    /** The code that reads the body; {@link #REJECTED} if the body was rejected unread. */
    enum BodyOwner {
        NONE,
        REJECTED,
        FORM,
        ASYNC_FORM,
        READER,
        APPLICATION
    }

    final HttpServletRequest source;
    final RequestCharset charset;
    private final RequestLease lease;
    private final long contentLength;
    /** Whether a response may have {@code Connection: close}. HTTP/2 clients treat that header as an error. */
    private final boolean mayCloseConnection;

    private final AtomicReference<BodyOwner> owner = new AtomicReference<>(BodyOwner.NONE);
    final CompletableFuture<MultipartForm> future = new CompletableFuture<>();
    private final AtomicReference<@Nullable FieldTexts> texts = new AtomicReference<>();

    private volatile FormService service;
    private volatile FormOptions options;
    private volatile @Nullable MultipartRequestException textsRejection;
    private volatile @Nullable BodyStream body;

    /** The rejection for which a response was requested last; null if there is none. */
    private volatile @Nullable MultipartRequestException recorded;

    private volatile @Nullable Thread parser;

    RequestForm(HttpServletRequest source, FormService service, RequestLease lease) {
        this.source = source;
        this.charset = new RequestCharset(source);
        this.lease = lease;
        this.contentLength = source.getContentLengthLong();
        this.mayCloseConnection = source.getProtocol().startsWith("HTTP/1");
        this.service = service;
        this.options = service.options(source);
    }

    /** Uses another filter and its options for the form. */
    void useService(FormService other) {
        service = other;
        options = other.options(source);
    }

    FormService service() {
        return service;
    }

    FormOptions options() {
        return options;
    }

    /** Sets options for this form only. */
    void options(FormOptions changed) {
        options = changed;
    }

    // ---- the owner of the body

    /** {@return the previous owner; the body is claimed only if that is {@link BodyOwner#NONE}} */
    BodyOwner claim(BodyOwner next) {
        return Objects.requireNonNull(owner.compareAndExchange(BodyOwner.NONE, next));
    }

    /** Gives the body back. The owner must not have read anything. */
    void unclaim(BodyOwner taken) {
        owner.compareAndSet(taken, BodyOwner.NONE);
    }

    /**
     * {@return the exception for a second use of the body: the exception that rejected the form, or an exception whose message names the
     * first use}
     */
    IllegalStateException alreadyClaimed() {
        MultipartRequestException rejection = rejection();
        if (rejection != null) {
            return rejection;
        }
        return new IllegalStateException(
                switch (Objects.requireNonNull(owner.get())) {
                    case NONE, REJECTED -> "the body of the request has not been read";
                    case FORM ->
                        "the form of the request has already been parsed, by getParts, getParameter or Spring MVC: get it"
                                + " with MultipartRequests.form(request), or call this method earlier (in Spring Boot with"
                                + " spring.servlet.multipart.resolve-lazily=true)";
                    case ASYNC_FORM -> "the form of the request is being received: wait for AsyncForm.completion()";
                    case READER -> "the body of the request is read part by part, through MultipartRequests.reader";
                    case APPLICATION ->
                        "the application reads the body itself, because it has called getInputStream() or getReader()";
                });
    }

    /** {@return whether {@link #parsed} can return a form, or throw the exception that rejected it} */
    boolean hasForm() {
        return hasForm(owner.get());
    }

    boolean hasForm(@Nullable BodyOwner now) {
        return now == BodyOwner.NONE
                || now == BodyOwner.REJECTED
                || now == BodyOwner.FORM
                || now == BodyOwner.ASYNC_FORM && future.isDone();
    }

    boolean isClaimed() {
        return owner.get() != BodyOwner.NONE;
    }

    boolean isRejected() {
        return owner.get() == BodyOwner.REJECTED;
    }

    /**
     * {@return the exception that rejected the form; null if the form was not rejected, or failed with an exception of
     * another type}
     */
    @Nullable
    MultipartRequestException rejection() {
        return future.isCompletedExceptionally()
                        && future.handle((whole, failure) -> failure).join() instanceof MultipartRequestException known
                ? known
                : null;
    }

    /**
     * {@return the exception for the response to {@code failure}, or null} Records this exception, also if a reader or the application has
     * rejected the body.
     */
    @Nullable
    MultipartRequestException recordRejection(Throwable failure) {
        MultipartRequestException known = MultipartRequestException.of(failure, rejection(), leavesUnreadBody());
        if (known != null) {
            recorded = known;
            BodyOwner before = claim(BodyOwner.REJECTED);
            if (before != BodyOwner.FORM && before != BodyOwner.ASYNC_FORM) {
                future.completeExceptionally(known);
            }
        }
        return known;
    }

    /** {@return whether a response closes the connection, because of a rejection before the end of the body} */
    boolean closesConnection() {
        MultipartRequestException known = recorded;
        MultipartRequestException last = known == null ? rejection() : known;
        return last != null && last.closesConnection();
    }

    /** Rejects the body unread. Methods that need the form then throw {@code rejection}. */
    void reject(MultipartRequestException rejection) {
        owner.set(BodyOwner.REJECTED);
        Forms.reportRejected(
                options, head(source), rejection.getCause() instanceof MultipartException known ? known : null);
        future.completeExceptionally(rejection);
    }

    // ---- the body

    static FormHead head(HttpServletRequest request) {
        List<String> types = Collections.list(request.getHeaders("Content-Type"));
        List<String> encodings = Collections.list(request.getHeaders("Content-Encoding"));
        @Nullable String type = request.getContentType(); // an outer filter may have changed the type
        return new FormHead(
                types.size() > 1 ? types : type == null ? List.of() : List.of(type),
                encodings.isEmpty() ? null : String.join(", ", encodings),
                request.getContentLengthLong(),
                request.getHeader("Expect") != null,
                request.getRemoteAddr());
    }

    /** @param paced the options with the minimum rate to enforce; null if another class enforces it */
    BodyStream open(@Nullable FormOptions paced) {
        BodyStream opened = new BodyStream(source::getInputStream, this::isBodyGone, paced);
        body = opened;
        return opened;
    }

    /** {@return whether the stream must not be read: the filter was closed, or the stream may already belong to the next request} */
    private boolean isBodyGone() {
        return service.isClosed() || lease.hasRequestEnded();
    }

    /** {@return whether to close the connection because the body was not read to its end} */
    private boolean leavesUnreadBody() {
        BodyStream opened = body;
        boolean read = opened == null ? future.isDone() && !future.isCompletedExceptionally() : opened.hasEnded();
        return mayCloseConnection && !read;
    }

    // ---- the form

    /** {@return the form, parsed now if necessary; concurrent callers wait for the result} */
    MultipartForm parsed() throws IOException {
        lease.checkNotEnded();
        BodyOwner before = claim(BodyOwner.FORM);
        if (before == BodyOwner.NONE) {
            parse();
        } else if (!hasForm(before)) { // even if that owner has given the body back by now
            throw alreadyClaimed();
        }
        return result();
    }

    MultipartForm parsedWith(FormOptions changed) throws IOException {
        lease.checkNotEnded();
        if (claim(BodyOwner.FORM) != BodyOwner.NONE) {
            throw alreadyClaimed();
        }
        options = changed;
        parse();
        return result();
    }

    private MultipartForm result() throws IOException {
        if (parser == Thread.currentThread()) {
            throw new IllegalStateException(
                    "the calling thread is parsing the form: do not request the form from a part decider or sink");
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
            lease.hold();
        } catch (IllegalStateException e) { // the request has just ended; other threads may already wait
            future.completeExceptionally(e);
            return;
        }
        parser = Thread.currentThread();
        try {
            if (lease.hasRequestEnded()) { // the lease can outlast the request
                throw new IllegalStateException(
                        "the request has ended, and its body was not read: call this method before the end");
            }
            complete(read());
        } catch (IOException | RuntimeException | Error e) {
            future.completeExceptionally(e);
        } finally {
            parser = null;
            lease.release();
        }
    }

    private MultipartForm read() throws IOException {
        BodyStream in = open(null);
        try {
            return checkComplete(service.forms.read(in, head(source), charset.applyTo(options)), in.count());
        } catch (IOException e) {
            if (in.isClientFailure(e)) {
                throw e;
            }
            throw rejection(e, in.count(), !in.hasEnded());
        }
    }

    /** Closes and rejects the form if part of the body was read before the request reached the filter. */
    MultipartForm checkComplete(MultipartForm parsed, long received) {
        if (received < contentLength) {
            parsed.close();
            throw readBefore();
        }
        return parsed;
    }

    /** {@return the exception that callers get for a failed form} */
    MultipartRequestException rejection(IOException failure, long received, boolean closesConnection) {
        boolean nothing = received == 0 && contentLength > 0;
        return nothing && failure instanceof MultipartException rejected && rejected.reason() == Reason.TRUNCATED
                ? readBefore()
                : MultipartRequestException.of(failure, closesConnection && mayCloseConnection);
    }

    private MultipartRequestException readBefore() {
        service.warnOnce(READ_BEFORE);
        return MultipartRequestException.ofSetUp(READ_BEFORE);
    }

    /** Completes the future with the form, and closes the form if the request ended in the meantime. */
    void complete(MultipartForm parsed) {
        future.complete(parsed);
        if (lease.hasEnded()) {
            parsed.close();
        }
    }

    /** {@return the texts of the fields; none if the body has another owner} */
    FieldTexts texts() {
        FieldTexts known = texts.get();
        if (known != null) {
            return known;
        }
        if (!hasForm() || lease.hasEnded()) {
            return FieldTexts.NONE;
        }
        MultipartRequestException rejection = textsRejection;
        if (rejection != null) {
            throw rejection;
        }
        MultipartForm parsed;
        try {
            parsed = parsed();
        } catch (IOException e) {
            throw MultipartRequestException.clientGone(e, mayCloseConnection);
        } catch (CancellationException | CompletionException e) { // an asynchronous form that was cancelled
            return FieldTexts.NONE;
        }
        FieldTexts read;
        try {
            read = FieldTexts.of(parsed, options, charset.get());
        } catch (IOException e) {
            rejection = MultipartRequestException.of(e, false);
            textsRejection = rejection;
            throw rejection;
        }
        if (texts.compareAndSet(null, read)) {
            if (lease.hasEnded()) {
                read.close(); // the lease ended before the texts were published
            }
            return read;
        }
        read.close();
        return texts();
    }

    /** Copies the texts before the fields are deleted. */
    void keepTexts() {
        try {
            texts();
        } catch (IllegalStateException e) {
            // no form: getParameter throws the same exception
        }
    }

    /** {@return the form for an error page, or null if it is not complete or already closed} */
    @Nullable
    MultipartForm formIfPresent() {
        return lease.hasEnded() || !future.isDone() || future.isCompletedExceptionally() ? null : future.join();
    }

    /** {@return the texts of the fields for an error page; none if the form was not parsed} */
    FieldTexts textsIfPresent() {
        if (formIfPresent() != null) {
            keepTexts();
        }
        FieldTexts known = texts.get();
        return known != null ? known : FieldTexts.NONE;
    }

    /** Interrupts the thread that waits for the client. */
    void shutDown() {
        BodyStream open = body;
        if (open != null) {
            open.shutDown();
        }
    }

    /** Closes the form and its texts. Runs once, at the end of the lease. */
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
