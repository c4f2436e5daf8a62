package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the body of one request, over all its dispatches: an attribute of the request.
 *
 * <p>The form dies when nobody holds the request any more: the request itself until it is over, whoever parses, workers
 * that are counted, and those who asked for a {@link MultipartRequests.Hold}.
 */
final class RequestState {
    private static final String ATTRIBUTE = RequestState.class.getName();

    /** How long after the end of the request a worker may begin. */
    private static final Duration WORKER_GRACE = Duration.ofSeconds(5);

    /** Who has the body. */
    enum Use {
        NOBODY,
        FORM,
        ASYNC_FORM,
        READER,
        APPLICATION
    }

    private final HttpServletRequest source;
    private final ServletContext context;
    private final Reception reception;
    private final RequestBody body;
    private final AtomicReference<Use> use = new AtomicReference<>(Use.NOBODY);
    private final CompletableFuture<MultipartForm> form = new CompletableFuture<>();
    private final AtomicReference<@Nullable FieldTexts> texts = new AtomicReference<>();
    private final AtomicInteger holds = new AtomicInteger(1);
    private final AtomicBoolean over = new AtomicBoolean();
    private final Set<CountedWorker> awaited = ConcurrentHashMap.newKeySet();
    private volatile FormOptions options;
    private volatile @Nullable MultipartRequestException textsRefusal;
    private volatile @Nullable Thread parser;
    private volatile @Nullable AsyncForm asyncForm;
    private volatile boolean async;

    private RequestState(HttpServletRequest source, Reception reception) {
        this.source = source;
        this.context = source.getServletContext();
        this.reception = reception;
        this.body = new RequestBody(source, reception);
        this.options = reception.options();
    }

    /** {@return the state of a request that has none yet} */
    static RequestState attach(HttpServletRequest request, Reception reception) {
        RequestState state = new RequestState(request, reception);
        request.setAttribute(ATTRIBUTE, state);
        reception.remember(state);
        return state;
    }

    /** Forgets the request, with which nothing has been done. */
    void detach() {
        source.removeAttribute(ATTRIBUTE);
        requestOver();
    }

    /** {@return the state of the request, or null} */
    static @Nullable RequestState of(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof RequestState state ? state : null;
    }

    Reception reception() {
        return reception;
    }

    HttpServletRequest source() {
        return source;
    }

    ServletContext context() {
        return context;
    }

    RequestBody body() {
        return body;
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
                    case FORM -> "the form of the request has been parsed before";
                    case ASYNC_FORM -> "the form of the request is being received: wait for AsyncForm.completion()";
                    case READER -> "the body of the request is read part by part, through MultipartRequests.reader";
                    case APPLICATION ->
                        "the application has called getInputStream() or getReader() before, and has the body";
                });
    }

    /** {@return whether the form may still be, or has been, parsed here} */
    boolean hasForm() {
        Use now = use.get();
        return now == Use.NOBODY || now == Use.FORM || now == Use.ASYNC_FORM && form.isDone();
    }

    // ---- the form

    /** {@return the form, which is parsed now if it has not been; other threads that ask meanwhile wait} */
    MultipartForm form() throws IOException {
        checkNotOver();
        if (use.compareAndSet(Use.NOBODY, Use.FORM)) {
            parse();
        } else if (!hasForm()) {
            throw taken();
        }
        return result();
    }

    /** {@return the form, parsed now by {@code changed}} */
    MultipartForm formBy(FormOptions changed) throws IOException {
        checkNotOver();
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
            return form.join();
        } catch (CompletionException e) {
            throw rethrow(e);
        }
    }

    private static IOException rethrow(CompletionException wrapped) {
        Throwable cause = wrapped.getCause();
        if (cause instanceof IOException gone) {
            return gone;
        }
        if (cause instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        throw wrapped;
    }

    private void parse() {
        try {
            hold();
        } catch (IllegalStateException e) { // the request has just ended; others may wait already
            form.completeExceptionally(e);
            return;
        }
        parser = Thread.currentThread();
        try {
            complete(body.readForm(options));
        } catch (IOException | RuntimeException | Error e) {
            form.completeExceptionally(e);
        } finally {
            parser = null;
            release();
        }
    }

    /** Hands the form to whoever waits for it, or closes it if the request ended meanwhile. */
    void complete(MultipartForm parsed) {
        form.complete(parsed);
        if (holds.get() <= 0) {
            close(parsed);
        }
    }

    CompletableFuture<MultipartForm> future() {
        return form;
    }

    /**
     * {@return the texts of the fields of the body; none where somebody else has the body}
     *
     * @throws MultipartRequestException if the form is not to be had
     */
    FieldTexts texts() {
        FieldTexts known = texts.get();
        if (known != null) {
            return known;
        }
        if (!hasForm() || holds.get() <= 0) {
            return FieldTexts.NONE;
        }
        MultipartRequestException refusal = textsRefusal;
        if (refusal != null) {
            throw refusal;
        }
        MultipartForm parsed;
        try {
            parsed = form();
        } catch (IOException e) {
            throw MultipartRequestException.clientGone(e);
        } catch (CancellationException | CompletionException e) { // of an asynchronous form: nothing the client did
            return FieldTexts.NONE;
        }
        FieldTexts read;
        try {
            read = FieldTexts.of(parsed, options, body.charset());
        } catch (IOException e) {
            refusal = MultipartRequestException.of(e, false);
            textsRefusal = refusal;
            throw refusal;
        }
        if (texts.compareAndSet(null, read)) {
            if (holds.get() <= 0) {
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
            // not to be had: whoever asks for them will hear of it
        }
    }

    // ---- life

    /** Keeps the form until as many calls of {@link #release()}. */
    void hold() {
        for (; ; ) {
            int now = holds.get();
            if (now <= 0) {
                throw isOver();
            }
            if (holds.compareAndSet(now, now + 1)) {
                return;
            }
        }
    }

    private void checkNotOver() {
        if (holds.get() <= 0) {
            throw isOver();
        }
    }

    private static IllegalStateException isOver() {
        return new IllegalStateException("the request is over, and its form closed: hold it with"
                + " MultipartRequests.hold, or start the worker with AsyncContext.start");
    }

    void release() {
        if (holds.decrementAndGet() == 0) {
            end();
        }
    }

    /** The container is done with the request; idempotent. */
    void requestOver() {
        if (over.compareAndSet(false, true)) {
            AsyncForm running = asyncForm;
            if (running != null) {
                running.requestOver();
            }
            letGoLater();
            release();
        }
    }

    void awaits(CountedWorker worker) {
        awaited.add(worker);
        if (over.get()) { // since when it was asked for: who ended the request may not have seen it
            letGoLater();
        }
    }

    private void letGoLater() {
        if (!awaited.isEmpty()) {
            reception.watch().later(() -> awaited.forEach(CountedWorker::letGo), WORKER_GRACE);
        }
    }

    void awaitsNoMore(CountedWorker worker) {
        awaited.remove(worker);
    }

    /** The web application ends, whoever holds what. */
    void shutDown() {
        AsyncForm running = asyncForm;
        if (running != null) {
            running.cancel();
        }
        body.shutDown();
        if (holds.getAndSet(0) > 0) {
            end();
        }
    }

    private void end() {
        if (form.isDone() && !form.isCompletedExceptionally()) {
            close(form.join());
        }
        FieldTexts known = texts.get();
        if (known != null) {
            known.close();
        }
        reception.forget(this); // last: what is not live any more has nothing left
    }

    private void close(MultipartForm ended) {
        try {
            ended.close();
        } catch (IOException e) {
            context.log("a file of a form could not be deleted; it will be tried again", e);
        }
    }

    // ---- asynchronous requests

    /** {@return whether an end of the request is awaited that is not that of the dispatch} */
    boolean isAsync() {
        return async;
    }

    /** The request goes on after the dispatch: listens for its end. */
    void asyncStarted(AsyncContext started) {
        async = true;
        started.addListener(new RequestEnd(this));
    }

    void receives(AsyncForm started, FormOptions changed) {
        options = changed;
        asyncForm = started;
        if (reception.isClosed()) { // whoever closed it may have looked for the form before it was there
            started.cancel();
        }
    }

    @Nullable
    AsyncForm asyncForm() {
        return asyncForm;
    }
}
