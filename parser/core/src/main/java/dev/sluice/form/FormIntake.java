package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.assembly.FormAssembler;
import dev.sluice.form.assembly.FormContext;
import dev.sluice.form.flow.BodyQueue;
import dev.sluice.form.flow.ChunkPool;
import dev.sluice.form.flow.Deadlines;
import dev.sluice.task.IsolatedCall;
import dev.sluice.task.SerialTask;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The receiver of one form from a {@link FormSource}. It controls the flow, enforces time limits, and ends the form exactly once.
 *
 * <p><b>Life cycle.</b> {@link Forms#receive} opens the intake and checks the head of the request. The source {@linkplain #offer offers}
 * the body in chunks, at the pace of the {@link #demand()}, and calls {@link #finish()} after the last one. Each part goes to the
 * destination that the {@link PartDecider} chose. When all parts are complete and published, {@link #completion()} completes with the form.
 *
 * <p><b>End.</b> A form ends exactly once: it is complete, rejected or aborted, or a sink, the disk or the application has failed. Unless
 * it is complete, it releases everything it held and removes all published parts before {@link #completion()} fails. A rejected form may
 * still have demand for bytes, which are discarded: many clients do not read a response before they have sent their body.
 *
 * <p><b>Flow control.</b> The demand is 0 while a sink is not ready or enough chunks wait to be decoded. A slow sink therefore
 * slows the client down, and no thread waits for it. When demand returns, the intake calls {@link FormSource#wanted()}.
 *
 * <p><b>Threads.</b> One thread at a time, the thread of the source, calls {@link #offer} and {@link #finish}. All other methods may be
 * called by any thread. One thread at a time decodes and calls sinks. If another thread is decoding, a call returns at once, and the
 * decoding thread does the work of that call. Work caused by an offer runs through {@link FormSource#run}. Other work (when a sink is ready,
 * when a time limit is exceeded, or after other forms have used the thread) runs through {@link FormSource#resume}, because timers and the
 * threads of sinks must not block. If the source throws, because it has no thread, the form ends on the calling thread, as it does after
 * {@link #abort}.
 *
 * <p><b>Ownership.</b> Chunks are transferred to the intake, which releases them on every path. The completed form belongs to the
 * receiver of {@link #completion()}.
 *
 * <p>Experimental, for authors of adapters: it may change in any release.
 */
public final class FormIntake {
    /** A request to end the form early. If it is not {@code due} yet, a thread of the source must confirm it first. */
    private record Ending(Throwable reason, boolean aborted, boolean due) {}

    /** The number of bytes that one form decodes before it lets other forms use the thread. */
    private static final long TURN = 2 * BodyQueue.WINDOW;

    private final FormSource source;
    private final FormOptions options;
    private final FormContext context;
    private final ChunkPool pool;
    final CompletableFuture<MultipartForm> completion = new CompletableFuture<>();
    private final BodyQueue queue;
    private final Deadlines deadlines;
    private final AtomicReference<@Nullable Ending> ending = new AtomicReference<>();

    private final SerialTask decoding = new SerialTask(this::decode);
    private volatile boolean ended;

    /** Whether a new turn begins, so that the next run of {@link #decoding} may decode {@link #TURN} bytes. */
    private volatile boolean newTurn;

    /** The readiness of the sink, the admission or the commit for which the form waits. */
    private volatile @Nullable Readiness pending;

    // Confined to the decoding thread.
    private @Nullable FormAssembler assembler;
    private int bytesInDecoder;
    private long decodedInTurn;
    private boolean turnEnded;
    private boolean admitted;
    private @Nullable Readiness committing;
    private @Nullable Ending cancellation;

    private FormIntake(FormSource source, FormOptions options, ChunkPool pool) {
        this.source = source;
        this.pool = pool;
        this.options = options;
        this.context = options.context;
        this.queue = new BodyQueue(context.waiting());
        this.deadlines = new Deadlines(options, context.clock());
    }

    /** {@return an intake that is ready for the first bytes, or has ended if the head of the request was rejected} */
    static FormIntake open(FormSource source, FormOptions options, ChunkPool pool) {
        FormIntake intake = new FormIntake(source, options, pool);
        try {
            intake.assembler = FormAssembler.open(source.head(), intake.context);
            intake.admit();
        } catch (Throwable e) {
            intake.end(e, false);
        }
        return intake;
    }

    private void admit() throws IOException {
        admitted = true;
        Readiness begin = context.admission().admit();
        if (begin.checkReady()) {
            deadlines.awaitClient(queue);
        } else {
            blocksOn(begin);
        }
    }

    // ---- for the source

    /**
     * {@return the number of bytes that may be offered now}
     *
     * <p>If this method returns 0, {@link FormSource#wanted()} is called when there is demand again or the form ends, unless the form
     * {@linkplain #isOver() has already ended}. A source may offer more than the demand: the bytes are kept.
     */
    public long demand() {
        long demand = currentDemand();
        if (demand == 0 && !ended) {
            queue.pause();
            demand = currentDemand();
            if (demand > 0) {
                queue.resume();
            }
        }
        return demand;
    }

    private long currentDemand() {
        return pending != null ? 0 : queue.room();
    }

    /**
     * {@return whether a source may read a little beyond the {@link #demand()}, to notice that its client has disconnected}
     *
     * <p>The result is false if too many chunks, over all forms, wait to be decoded.
     */
    public boolean mayReadAhead() {
        return !context.waiting().isCrowded();
    }

    /**
     * Takes the next bytes of the body. Errors in the bytes are reported by {@link #completion()}.
     *
     * @param chunk <em>transferred</em>, even if this method throws; its indices do not change
     * @throws IllegalStateException after {@link #finish()}
     */
    public void offer(ByteBuf chunk) {
        if (queue.isFinished()) {
            chunk.release();
            throw new IllegalStateException("offer() was called after finish(): create one intake per body");
        }
        int size = chunk.readableBytes();
        if (size == 0) { // such as the last chunk of HTTP before a trailer
            chunk.release();
            return;
        }
        boolean waits = queue.add(chunk);
        boolean inTime = deadlines.received(size, queue);
        if (waits) {
            if (!inTime) {
                ending.compareAndSet(null, new Ending(deadlines.clientTooSlow(), false, true));
            }
            decodeOnOffer();
        } else if (!inTime) {
            queue.stopDiscarding();
        }
    }

    /**
     * Reads once from {@code in}, up to the {@link #demand()}, and offers the bytes. At the end of the stream, calls {@link #finish()}.
     *
     * @return the number of bytes, or -1 at the end
     * @throws IOException if reading the stream fails
     */
    public int read(InputStream in) throws IOException {
        return read(in, false);
    }

    /** @param greedy whether to read again while more is available */
    int read(InputStream in, boolean greedy) throws IOException {
        ByteBuf chunk = pool.take();
        try {
            int count = ChunkPool.fill(chunk, in, demand(), greedy);
            if (count < 0) {
                finish();
            } else {
                offer(chunk.retain());
            }
            return count;
        } finally {
            pool.give(chunk);
        }
    }

    /**
     * Marks the end of the body.
     *
     * @throws IllegalStateException if this method was called before
     */
    public void finish() {
        if (queue.isFinished()) {
            throw new IllegalStateException("finish() was called before: create one intake per body");
        }
        queue.finish();
        deadlines.received(0, queue);
        decodeOnOffer();
    }

    /**
     * Ends the form, unless it has ended, and releases everything it held. If another thread is decoding, that thread ends
     * the form later. If the form is being committed, the commit decides, and the form may still complete.
     *
     * @param reason the exception with which {@link #completion()} fails, for example because the connection broke. A {@link
     *     RejectedExecutionException} becomes the cause of a {@link MultipartException} with the reason {@code UNAVAILABLE},
     *     because the server has no thread for the form
     */
    public void abort(Throwable reason) {
        endNow(reason);
        decodeNow(); // even if another end was requested: the thread that should confirm it may never run
    }

    /** {@return whether the form has ended, successfully or not; there may still be demand for bytes to discard} */
    public boolean isOver() {
        return ended;
    }

    /**
     * {@return whether the whole body has arrived, so that the connection can carry another request}
     *
     * <p>For sources that have stopped reading because the form {@linkplain #isOver() has ended}.
     */
    public boolean isAtEnd() {
        return queue.isFinished();
    }

    /**
     * {@return the form, which belongs to the caller, who closes it}
     *
     * <p>The stage fails with a {@link MultipartException}, with the exception of a sink or of the application, or with the reason given to
     * {@link #abort}. A {@code MultipartException} without a part is replaced by a copy with the current part. As with every stage,
     * callbacks see the failure as the cause of a {@link java.util.concurrent.CompletionException}.
     */
    public CompletionStage<MultipartForm> completion() {
        return completion.minimalCompletionStage();
    }

    /**
     * Ends the form if the client is too slow, or a sink takes too long to become ready. Sources that do not block call this
     * method every {@link FormOptions#paceCheckNanos()}.
     *
     * @param now {@link System#nanoTime()}
     */
    public void checkPace(long now) {
        Readiness sink = pending;
        if (sink != null && deadlines.isSinkOverdue(now)) {
            endLater(deadlines::sinkStalled, () -> !sink.isReady());
        } else if (deadlines.isClientTooSlow(now)) {
            if (!ended) {
                endLater(
                        deadlines::clientTooSlow,
                        () -> !queue.isFinished()
                                && deadlines.isClientTooSlow(context.clock().getAsLong()));
            } else if (queue.stopDiscarding()) { // only once: afterwards the request may have ended
                source.wanted();
            }
        }
    }

    /**
     * Ends the form on a thread of the source, unless an end was requested before. On a busy server that thread may start late, so it first
     * checks whether the reason {@code stillApplies}.
     */
    private void endLater(Supplier<MultipartException> reasons, BooleanSupplier stillApplies) {
        if (ending.get() != null) {
            return;
        }
        MultipartException reason = reasons.get();
        Ending requested = new Ending(reason, false, false);
        if (ending.compareAndSet(null, requested)) {
            Runnable confirm = () -> {
                ending.compareAndSet(requested, stillApplies.getAsBoolean() ? new Ending(reason, false, true) : null);
                decodeNow();
            };
            try {
                source.resume(confirm);
            } catch (Throwable e) { // no thread is available
                confirm.run();
            }
        }
    }

    // ---- one thread at a time

    /**
     * Decodes on this thread, unless another thread is decoding. It does not rely on the task of an earlier trigger, because an executor may
     * have discarded that task.
     */
    private void decodeNow() {
        newTurn = true;
        decoding.trigger();
        decoding.run();
    }

    private void decodeOnOffer() {
        if (decoding.trigger()) {
            newTurn = true;
            try {
                source.run(decoding::run);
            } catch (Throwable e) {
                abort(e);
            }
        }
    }

    /** Schedules decoding on a thread of the source. */
    private void decodeLater() {
        try {
            source.resume(this::decodeNow);
        } catch (Throwable e) { // no thread is available
            abort(e);
        }
    }

    /** Requests an end that needs no confirmation. This replaces an earlier request that needs one. */
    private void endNow(Throwable given) {
        Throwable reason = given instanceof RejectedExecutionException
                ? MultipartException.because(Reason.UNAVAILABLE)
                        .saying("the server is too busy to take the upload: its executor rejects tasks")
                        .cause(given)
                        .build()
                : given;
        ending.updateAndGet(now -> now == null || !now.due() ? new Ending(reason, true, true) : now);
    }

    private void decode() {
        if (newTurn) {
            newTurn = false;
            decodedInTurn = 0;
            turnEnded = false;
        }
        try {
            advance();
        } catch (Throwable e) {
            end(e, cancellation != null && cancellation.aborted());
        }
        if (assembler != null) {
            assembler.memory.releaseAhead(); // a form that waits holds no spare memory
        }
    }

    private void advance() throws IOException {
        FormAssembler form = assembler;
        while (form != null && !ended) {
            Ending due = ending.get();
            Readiness sink = pending;
            if (due != null && due.due() && committing == null) {
                end(due.reason(), due.aborted());
            } else if (due != null && due.due() && cancellation == null) {
                cancellation = due;
                IsolatedCall.run(() -> context.admission().cancelCommit(due.reason()));
            } else if (sink != null && !sink.isReady()) {
                return;
            } else if (sink != null) {
                pending = null;
                sink.checkReady();
            } else if (!step(form)) {
                return;
            }
        }
        discardChunks();
    }

    /** {@return false if there is nothing to do now} */
    private boolean step(FormAssembler form) throws IOException {
        boolean last = queue.isFinished(); // before peeking: no chunk is added after the end
        if (decodedInTurn >= TURN) {
            if (!turnEnded) {
                turnEnded = true;
                decodeLater(); // other forms use the thread first
            }
            return false;
        } else if (blocksOn(form.pump())) {
            return true;
        }
        if (bytesInDecoder > 0) {
            form.memory.releaseToBudget(bytesInDecoder);
            decodedInTurn += bytesInDecoder;
            queue.decoded();
            bytesInDecoder = 0;
            if (queue.isHalfEmpty()) {
                wakeSource(); // it receives more while the rest is decoded
            }
            form.chunkRead();
        }
        ByteBuf chunk = queue.peek();
        if (chunk != null) {
            form.memory.reserveFromBudget(chunk.capacity());
            bytesInDecoder = chunk.capacity();
            form.feed(queue.remove());
        } else if (!last) {
            deadlines.awaitClient(queue);
            wakeSource();
            return false;
        } else if (!blocksOn(form.finish()) && !blocksOn(commit())) {
            MultipartForm received = new MultipartForm(form.form());
            form.handOver();
            IsolatedCall.run(context.admission()::ended);
            ended = true;
            completion.complete(received);
            wakeSource();
        }
        return true;
    }

    private Readiness commit() throws IOException {
        Readiness commit = committing;
        if (commit == null) {
            commit = context.admission().commit();
            committing = commit;
        }
        return commit.checkReady() ? Readiness.READY : commit;
    }

    /**
     * {@return whether the form must wait for {@code sink}}
     *
     * <p>If true, {@link #advance()} checks again, because the sink may be ready by now.
     */
    private boolean blocksOn(Readiness sink) {
        if (sink == Readiness.READY) {
            return false;
        }
        deadlines.startSinkWait();
        pending = sink;
        sink.whenReady(this::decodeLater);
        return true;
    }

    private void wakeSource() {
        if (queue.resume()) {
            source.wanted();
        }
    }

    private void discardChunks() {
        queue.clear();
        deadlines.awaitClient(queue); // for the bytes to discard
    }

    private void end(Throwable failure, boolean wasAborted) {
        if (ended) {
            return;
        }
        FormAssembler form = assembler;
        Throwable reason = form == null ? failure : form.located(failure);
        if (form != null) {
            form.fail(reason, wasAborted);
        }
        if (admitted) {
            IsolatedCall.run(context.admission()::ended);
        }
        queue.decoded();
        bytesInDecoder = 0;
        boolean drains = !wasAborted
                && reason instanceof IOException
                && !(reason instanceof MultipartException e && e.kind() == MultipartException.Kind.TOO_SLOW);
        queue.discard(drains ? bytesToDiscard() : 0);
        discardChunks();
        pending = null;
        ended = true;
        completion.completeExceptionally(reason);
        wakeSource();
    }

    /** {@return the number of bytes to read and discard, so that the client reads the response; 0 for none} */
    private long bytesToDiscard() {
        long most = options.maxDrainBytes();
        FormHead head = source.head();
        long expected = head.contentLength();
        boolean unknown = expected < 0;
        long left = unknown ? most : Math.max(expected - queue.receivedBytes(), 0);
        return left > most || unknown && most == 0 || queue.receivedBytes() == 0 && head.expectsContinue()
                ? 0
                : left + 1; // one more, to see the end of the body
    }
}
