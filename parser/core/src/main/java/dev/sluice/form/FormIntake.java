package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes one form in: bytes are offered as they come, parts go where the {@link PartDecider} says, and once all of it is
 * there {@link #completion()} has the form. The one place for the flow of a form: a source reads while there is {@link
 * #demand()}, so that a sink that is not ready stops the client, and no thread waits.
 *
 * <p>It has exactly one end. Whatever ends it but success has given back all that was held, and nothing of the form is
 * visible. After a refusal there may still be demand: for as many bytes as are worth dropping, because many clients read
 * no answer before they have sent all.
 *
 * <p>{@link #offer} and {@link #finish} belong to one thread at a time, that of the source; everything else may be called
 * by any thread. Sinks are called by one thread at a time: see {@link FormSource#run} and {@link FormSource#resume}.
 *
 * <p>Experimental, for those who write adapters: it may change in any release.
 */
public final class FormIntake {
    /** Why the form is to end before its time; where it is not due, a thread of the source has been asked for that first. */
    private record Ending(Throwable reason, boolean aborted, boolean due) {}

    /** How many bytes may wait to be decoded, counted by what keeps them in memory. */
    private static final long WINDOW = 512 << 10;

    /** How many bytes are decoded before others have their turn on the same thread. */
    private static final long TURN = 2 * WINDOW;

    /** What a stream has at hand that only knows that it is not at its end, as those that decompress. */
    private static final int ANYTHING = 1;

    private final FormSource source;
    private final FormOptions options;
    private final ChunkPool pool;
    final CompletableFuture<MultipartForm> completion = new CompletableFuture<>();
    private final @Nullable ClientPace pace;
    private final ReentrantLock paceLock = new ReentrantLock();
    private final Queue<ByteBuf> chunks = new ConcurrentLinkedQueue<>();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong waiting = new AtomicLong();
    private final AtomicBoolean paused = new AtomicBoolean();
    private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();
    private final AtomicLong drainLeft = new AtomicLong();

    /** Counts calls for attention: whoever makes it 1 works until it is 0 again. */
    private final AtomicInteger calls = new AtomicInteger();

    private volatile boolean finished;
    private volatile boolean over;
    private volatile @Nullable Readiness blocked;
    private volatile long blockedSince;

    // Of the one thread that decodes.
    private @Nullable FormAssembler assembler;
    private int charged;
    private long decodedInTurn;
    private boolean turnIsOver;
    private boolean admitted;

    private FormIntake(FormSource source, FormOptions options, ChunkPool pool) {
        this.source = source;
        this.pool = pool;
        this.options = options;
        this.pace = options.newPace();
    }

    /** {@return an intake that wants the first bytes, or has ended, if the head of the request is refused} */
    static FormIntake open(FormSource source, FormOptions options, ChunkPool pool) {
        FormIntake intake = new FormIntake(source, options, pool);
        try {
            intake.assembler = intake.assemble();
            intake.admit();
        } catch (IOException | RuntimeException | Error e) {
            intake.end(e, false);
        }
        return intake;
    }

    private FormAssembler assemble() throws IOException {
        FormHead head = source.head();
        Boundary boundary;
        try {
            boundary = accepted(head);
        } catch (IOException e) { // the assembler, which reports the others, is not made
            Reason reason = e instanceof MultipartException known ? known.reason() : null;
            FormTally.rejected(options, reason, FormSummary.Outcome.of(reason));
            throw e;
        }
        long expected = head.contentLength();
        return new FormAssembler(boundary, options, expected);
    }

    /** {@return the boundary of a body that the head of the request does not rule out} */
    private Boundary accepted(FormHead head) throws IOException {
        long expected = head.contentLength();
        long max = options.multipart().maxBodyBytes();
        if (expected > max) { // need not be sent; a body that does not say so is counted as it comes
            throw MultipartException.because(Reason.BODY_TOO_LARGE)
                    .limit(max)
                    .at(max)
                    .seen("Content-Length " + expected)
                    .build();
        }
        Boundary boundary = head.boundary(options.multipart().preset());
        if (!boundary.isFormData()) {
            throw MultipartException.because(Reason.UNSUPPORTED_MEDIA_TYPE).build();
        }
        SpoolDirectory spool = options.spool();
        if (spool != null) {
            spool.requireRoom(options.leastOnDisk(expected, boundary));
        }
        return boundary;
    }

    private void admit() throws IOException {
        admitted = true;
        Readiness begin = options.admission.admit();
        if (begin.checkReady()) {
            clientIsWaitedFor();
        } else {
            goOn(begin);
        }
    }

    // ---- for the source

    /**
     * {@return how many bytes may come now; 0 for none: {@link FormSource#wanted()} follows, unless this {@link #isOver()}
     * or {@link #finish} was called. More than that is taken too, and held}
     */
    public long demand() {
        long demand = wanted();
        if (demand == 0 && !isOver()) {
            paused.set(true);
            demand = wanted();
            if (demand > 0) {
                paused.set(false);
            }
        }
        return demand;
    }

    /**
     * {@return whether a source that looks for the end of its client may hold a little beyond the {@link #demand()}: not where
     * what waits of all forms is so much that none asks for more before its own has been decoded}
     */
    public boolean mayReadAhead() {
        return !options.memory().isCrowded();
    }

    private long wanted() {
        if (finished) {
            return 0;
        } else if (over) {
            return Math.max(drainLeft.get(), 0);
        }
        long waits = waiting.get();
        return blocked != null || waits >= window() ? 0 : WINDOW - waits;
    }

    /** {@return how many bytes of this form may wait: where those of all forms are too many, none before more is asked for} */
    private long window() {
        return mayReadAhead() ? WINDOW : 1;
    }

    /** {@return how many bytes of this form wait still} */
    private long noLongerWaits(int bytes) {
        options.memory().waits(-bytes);
        return waiting.addAndGet(-bytes);
    }

    /**
     * Takes the next bytes of the body. What they do to the form, {@link #completion()} tells.
     *
     * @param chunk <em>transferred</em>, even if this throws; reader and writer index stay as they are
     * @throws IllegalStateException after {@link #finish()}
     */
    public void offer(ByteBuf chunk) {
        if (finished) {
            chunk.release();
            throw new IllegalStateException("nothing follows finish(): make one intake per body");
        }
        int size = chunk.readableBytes();
        received.lazySet(received.get() + size); // by this thread alone
        boolean drops = over;
        if (!drops) {
            int kept = chunk.capacity();
            waiting.addAndGet(kept);
            options.memory().waits(kept);
            chunks.add(chunk); // before the pace: whoever finds none is sure that the client is waited for
        }
        boolean tooSlow = pace != null && !received(pace, size);
        if (drops) {
            chunk.release();
            drainLeft.set(tooSlow ? 0 : drainLeft.get() - size);
            return;
        }
        if (tooSlow) {
            ending.compareAndSet(null, new Ending(tooSlow(), false, true));
        }
        callByOffer();
    }

    /**
     * Asks {@code in} once for at most what there is {@link #demand()} for, and offers it, or finishes.
     *
     * @return the number of bytes, or -1 at the end
     * @throws IOException of the stream, as it comes
     */
    public int read(InputStream in) throws IOException {
        return read(in, false);
    }

    /** @param greedy whether to ask again while there is more: only where {@code in} may be asked at any time */
    int read(InputStream in, boolean greedy) throws IOException {
        ByteBuf chunk = pool.take();
        try {
            int most = (int) Math.min(chunk.writableBytes(), demand());
            int count = chunk.writeBytes(in, most);
            if (count < 0) {
                finish();
                return count;
            }
            int asked = greedy ? most : 0;
            while (chunk.readableBytes() < asked && in.available() > ANYTHING && count > 0) {
                count = chunk.writeBytes(in, asked - chunk.readableBytes());
            }
            offer(chunk.retain());
            return chunk.readableBytes();
        } finally {
            pool.give(chunk);
        }
    }

    /**
     * Says that the body is at its end.
     *
     * @throws IllegalStateException the second time
     */
    public void finish() {
        if (finished) {
            throw new IllegalStateException("finish() was called: make one intake per body");
        }
        finished = true;
        if (pace != null) {
            received(pace, 0);
        }
        callByOffer();
    }

    /**
     * Ends the form, if it has not ended: nothing of it is left on return or, if another thread is at it, as soon as that
     * one sees it.
     *
     * @param reason what {@link #completion()} fails with: that the connection broke, or an exception of the application
     */
    public void abort(Throwable reason) {
        endNow(reason);
        callNow(); // also where there was a reason: the thread that was asked for it may not come any more
    }

    /** {@return whether the form has ended, well or not; there may be demand for bytes to drop} */
    public boolean isOver() {
        return over;
    }

    /**
     * {@return whether all of the body has come, so that the connection is good for another request; asked when {@link
     * #isOver()} and nothing more is read}
     */
    public boolean isAtEnd() {
        return finished;
    }

    /**
     * {@return the form, which belongs to the caller, who closes it}. Fails with a {@link MultipartException}, with what a
     * sink or the application threw, as it is, or with what {@link #abort} was given; callbacks see it as the cause of a
     * {@link java.util.concurrent.CompletionException}, as with every stage.
     */
    public CompletionStage<MultipartForm> completion() {
        return completion.minimalCompletionStage();
    }

    /**
     * Ends the form if the client is too slow, or a sink was not ready for too long. To be called now and then by sources
     * that do not wait, some four times within the grace of the minimum rate; any thread, with {@link System#nanoTime()}.
     */
    public void checkPace(long now) {
        Readiness sink = blocked;
        if (sink != null && now - blockedSince > options.maxSinkWaitNanos()) {
            endLater(
                    MultipartException.because(Reason.SINK_STALLED)
                            .limit(options.maxSinkWaitNanos())
                            .build(),
                    () -> !sink.isReady());
        } else if (pace != null && isTooSlow(pace, now)) {
            if (!over) {
                endLater(tooSlow(), () -> !finished && isTooSlow(pace, options.now()));
            } else if (drainLeft.getAndSet(0) > 0) { // or the source was told, and its request may be gone by now
                source.wanted();
            }
        }
    }

    /**
     * Sinks and the application are not for a timer to wait for. Not before that thread has come: the request is its. If that
     * takes long, because the server is busy, the reason may be gone: {@code still} says whether it is there.
     */
    private void endLater(Throwable reason, BooleanSupplier still) {
        Ending announced = new Ending(reason, false, false);
        if (ending.compareAndSet(null, announced)) {
            Runnable end = () -> {
                ending.compareAndSet(announced, still.getAsBoolean() ? new Ending(reason, false, true) : null);
                callNow();
            };
            try {
                source.resume(end);
            } catch (RuntimeException | Error e) { // there is no thread, or no memory for one
                end.run();
            }
        }
    }

    private MultipartException tooSlow() {
        return MultipartException.because(Reason.CLIENT_TOO_SLOW)
                .limit(options.minBytesPerSecond())
                .build();
    }

    // ---- the pace of the client: its time is that in which nothing it sent waits and no sink is waited for

    private void clientIsWaitedFor() {
        if (pace != null) {
            paceLock.lock();
            try {
                if (chunks.isEmpty() && !finished) {
                    pace.waits(options.now());
                }
            } finally {
                paceLock.unlock();
            }
        }
    }

    /** {@return whether soon enough} */
    private boolean received(ClientPace client, int size) {
        long now = options.now();
        paceLock.lock();
        try {
            client.goesOn(now);
            client.received(size);
            boolean inTime = !client.isTooSlow(now);
            if (over) {
                client.waits(now);
            }
            return inTime;
        } finally {
            paceLock.unlock();
        }
    }

    private boolean isTooSlow(ClientPace client, long now) {
        paceLock.lock();
        try {
            return client.isTooSlow(now);
        } finally {
            paceLock.unlock();
        }
    }

    // ---- one thread at a time

    private void callNow() {
        if (calls.getAndIncrement() == 0) {
            work();
        }
    }

    private void callByOffer() {
        if (calls.getAndIncrement() == 0) {
            try {
                source.run(this::work);
            } catch (RuntimeException | Error e) {
                endNow(e);
                work();
            }
        }
    }

    /** Calls from a thread of the source. Counts when that has come: a container may drop what it was to run. */
    private void callLater() {
        try {
            source.resume(this::callNow);
        } catch (RuntimeException | Error e) { // there is no thread, or no memory for one
            endNow(e);
            callNow();
        }
    }

    /** Nobody has to come for this one, be another announced or not. */
    private void endNow(Throwable reason) {
        ending.updateAndGet(now -> now == null || !now.due() ? new Ending(reason, true, true) : now);
    }

    private void work() {
        int seen = 1;
        boolean goesOnLater;
        decodedInTurn = 0;
        turnIsOver = false;
        do {
            try {
                advance();
            } catch (Throwable e) {
                end(e, false);
            }
            if (assembler != null) {
                assembler.memory.settle(); // while a form waits, it holds what it needs
            }
            goesOnLater = turnIsOver && !over;
            seen = calls.addAndGet(-seen);
        } while (seen != 0);
        if (goesOnLater) {
            callLater();
        }
    }

    private void advance() throws IOException {
        FormAssembler form = assembler;
        while (form != null && !over) {
            Ending due = ending.get();
            Readiness sink = blocked;
            if (due != null && due.due()) {
                end(due.reason(), due.aborted());
            } else if (sink != null && !sink.isReady()) {
                return;
            } else if (sink != null) {
                blocked = null;
                sink.checkReady();
            } else if (!advance(form)) {
                return;
            }
        }
        dropChunks();
    }

    /** {@return false if there is nothing to do before more comes} */
    private boolean advance(FormAssembler form) throws IOException {
        boolean last = finished;
        turnIsOver = decodedInTurn >= TURN;
        if (turnIsOver) {
            return false;
        } else if (goOn(form.pump())) {
            return true;
        }
        if (charged > 0) {
            form.memory.releaseForProcess(charged);
            decodedInTurn += charged;
            boolean little = noLongerWaits(charged) <= window() / 2;
            charged = 0;
            if (little) {
                tellSource(); // which receives while the rest is decoded
            }
        }
        ByteBuf chunk = chunks.peek();
        if (chunk != null) {
            form.memory.reserveForProcess(chunk.capacity()); // what it keeps in memory, however little is in it
            charged = chunk.capacity();
            form.feed(chunks.remove());
        } else if (!last) {
            form.chunkRead();
            clientIsWaitedFor();
            tellSource();
            return false;
        } else if (!goOn(form.finish())) {
            MultipartForm received = form.form();
            FormTally.call(options.admission::ended);
            over = true;
            completion.complete(received);
            tellSource();
        }
        return true;
    }

    /** {@return whether a sink has to become ready first, which it may be by now: there is something left to do behind it} */
    private boolean goOn(Readiness sink) {
        if (sink == Readiness.READY) {
            return false;
        }
        blockedSince = System.nanoTime();
        blocked = sink;
        sink.whenReady(this::callLater);
        return true;
    }

    private void tellSource() {
        if (paused.get() && paused.compareAndSet(true, false)) {
            source.wanted();
        }
    }

    private void dropChunks() {
        for (ByteBuf chunk; (chunk = chunks.poll()) != null; ) {
            noLongerWaits(chunk.capacity());
            chunk.release();
        }
        clientIsWaitedFor(); // for what is to be dropped, too
    }

    private void end(Throwable failure, boolean wasAborted) {
        if (over) {
            return;
        }
        FormAssembler form = assembler;
        Throwable reason = form == null ? failure : form.located(failure);
        if (form != null) {
            form.fail(reason, wasAborted);
        }
        if (admitted) {
            FormTally.call(options.admission::ended);
        }
        noLongerWaits(charged);
        charged = 0;
        dropChunks();
        blocked = null;
        boolean worthIt = !wasAborted
                && reason instanceof IOException
                && !(reason instanceof MultipartException e && e.kind() == MultipartException.Kind.TOO_SLOW);
        drainLeft.set(worthIt ? worthDropping() : 0);
        over = true;
        completion.completeExceptionally(reason);
        tellSource();
    }

    /** {@return how many bytes to read and drop, so that the client reads the answer; 0 for none} */
    private long worthDropping() {
        long most = options.maxDrainBytes();
        FormHead head = source.head();
        long expected = head.contentLength();
        long left = expected < 0 ? most : Math.max(expected - received.get(), 0);
        return left > most || received.get() == 0 && head.expectsContinue()
                ? 0
                : left + 1; // the end shows one byte later
    }
}
