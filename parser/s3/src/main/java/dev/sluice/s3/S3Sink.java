package dev.sluice.s3;

import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.StoreMetrics;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Streams a part into an object: fills a segment while others are under way. A small part is kept until the form has ended
 * well. Calls of the store come back on its threads, so all is under the lock of the form.
 */
final class S3Sink implements PartSink {
    /** When an upload is ended again of which pieces were under way: they may have come behind the first time. */
    private static final long AGAIN_MILLIS = 1000;

    /** How long a thread waits for an object to be deleted, which another sink's failure asks for. */
    private static final long RETRACT_SECONDS = 30;

    final PartHead part;
    private final S3Form form;
    private final ObjectStore store;
    final ObjectStore.Target target;
    private final ReentrantLock lock;
    private final CRC32 crc = new CRC32();
    private final TreeMap<Integer, ObjectStore.Piece> pieces = new TreeMap<>();
    private final Set<CompletableFuture<ObjectStore.Piece>> flying = new HashSet<>();
    private long size;
    private int sent;
    private @Nullable Segment filling;
    private @Nullable ByteBuf held;
    private @Nullable CompletableFuture<String> upload;
    private final Watch watch;

    /** Of the form, when the last piece was sent. */
    private long arrivals;

    private @Nullable Readiness waiting;
    private @Nullable Throwable failure;
    private boolean admitted;
    private boolean complete;
    private boolean kept;
    private boolean closed;
    private final AtomicBoolean isAborted = new AtomicBoolean();
    private @Nullable CompletableFuture<ObjectStore.Stored> publication;
    private volatile ObjectStore.@Nullable Stored stored;
    private @Nullable CompletableFuture<Void> retraction;

    S3Sink(S3Form form, PartHead part, ObjectStore.Target target) {
        this.form = form;
        this.part = part;
        this.store = form.sinks.store;
        this.target = target;
        this.lock = form.lock;
        this.watch = new Watch(form.sinks.maxAge.dividedBy(2), this::idle);
    }

    ObjectStore.@Nullable Stored stored() {
        return stored;
    }

    /** {@return whether all of it is there and it is to become visible} */
    boolean isToCome() {
        return complete && !closed;
    }

    /** {@return what the store calls its upload, or nothing if it has none} */
    String uploadId() {
        CompletableFuture<String> created = upload;
        return created == null || created.isCompletedExceptionally() ? "" : created.getNow("");
    }

    // ---- bytes

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        lock.lock();
        try {
            checkOpen();
            form.arrivals++;
            if (admitted && take(data)) {
                return Readiness.READY;
            }
            held = data.retainedSlice();
            return waitFor();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Readiness complete() throws IOException {
        lock.lock();
        try {
            checkOpen();
            complete = true;
            Segment last = filling;
            kept = sent == 0; // before its memory is charged otherwise: then this is called back
            kept = kept && (last == null || form.keep(last.seal()));
            return kept ? Readiness.READY : waitFor();
        } finally {
            lock.unlock();
        }
    }

    private void checkOpen() throws IOException {
        if (complete || closed) {
            throw new IllegalStateException("the sink is " + (closed ? "closed" : "complete") + ": one sink per part");
        }
        checkFailure();
    }

    private void checkFailure() throws IOException {
        Throwable cause = failure;
        if (cause instanceof IOException io) {
            throw io;
        } else if (cause != null) {
            throw new IOException(cause.getMessage(), cause);
        }
    }

    private Readiness waitFor() {
        Readiness ready = Readiness.pending();
        waiting = ready;
        if (admitted) {
            advance();
        } else {
            Readiness admission = form.reserve();
            admission.whenReady(() -> {
                lock.lock();
                try {
                    admitted = true;
                    failure = failure == null ? admission.failure() : failure;
                } finally {
                    lock.unlock();
                }
                advance();
            });
        }
        return ready;
    }

    /** {@return whether all of it was taken} */
    private boolean take(ByteBuf data) throws IOException {
        while (data.isReadable()) {
            Segment open = filling;
            if (open == null) {
                if (sent == form.sinks.mostPieces) {
                    throw part.because(Reason.PART_TOO_LARGE).ownLimit(size).build();
                }
                open = form.open(sent + 1, this::advance);
                filling = open;
                if (open == null) {
                    return false;
                }
            }
            long before = open.size();
            open.add(data, crc);
            size += open.size() - before;
            if (isToGo(open) && !send() && open.isFull()) {
                return !data.isReadable();
            }
        }
        return true;
    }

    /** {@return whether it is full, or holds enough for a piece and memory that others wait for} */
    private boolean isToGo(Segment open) {
        return open.isFull() || open.isExtra && open.size() >= S3Sinks.LEAST_SEGMENT && form.sinks.isShort();
    }

    /** Sends what is filled, unless enough is under way. {@return whether that was done} */
    private boolean send() {
        if (flying.size() >= form.sinks.segmentsInFlight) {
            return false;
        }
        Segment segment = Objects.requireNonNull(filling).seal();
        filling = null;
        fly(++sent, segment);
        return true;
    }

    private void fly(int number, Segment segment) {
        arrivals = form.arrivals;
        CompletableFuture<String> created = upload;
        if (created == null) {
            created = store.create(target);
            upload = created;
        }
        CompletableFuture<ObjectStore.Piece> flight = new CompletableFuture<>();
        flying.add(flight);
        flight.whenComplete((piece, cause) -> {
            segment.release();
            landed(flight, piece, cause);
        });
        created.whenComplete((id, cause) -> {
            if (cause != null) {
                flight.completeExceptionally(cause);
            } else if (!flight.isDone()) {
                CompletableFuture<ObjectStore.Piece> request = store.upload(target, id, number, segment);
                flight.whenComplete((piece, gone) -> request.cancel(true));
                request.whenComplete((piece, problem) -> {
                    if (problem == null) {
                        flight.complete(piece);
                    } else {
                        flight.completeExceptionally(problem);
                    }
                });
            }
        });
    }

    private void landed(
            CompletableFuture<ObjectStore.Piece> flight, ObjectStore.@Nullable Piece piece, @Nullable Throwable cause) {
        lock.lock();
        try {
            flying.remove(flight);
            if (piece != null) {
                if (piece.number() <= form.sinks.mostPieces) {
                    pieces.put(piece.number(), piece);
                }
                watch.start();
            } else if (cause != null) {
                fail(cause);
            }
        } finally {
            lock.unlock();
        }
        advance();
    }

    private void fail(Throwable cause) {
        failure = failure == null ? Retries.unwrap(cause) : failure;
    }

    /** Goes on with what waited: for a segment, for one under way, for the last one. */
    private void advance() {
        lock.lock();
        try {
            goOn();
            boolean done = held == null && (!complete || filling == null && flying.isEmpty());
            Readiness ready = waiting;
            if (ready != null && admitted && (failure != null || done)) {
                waiting = null;
                S3Form.settle(ready, failure);
            }
        } finally {
            lock.unlock();
        }
    }

    private void goOn() {
        try {
            ByteBuf rest = held;
            if (closed || failure != null || !admitted) {
                return;
            }
            if (filling != null && isToGo(filling)) {
                send();
            }
            if (rest != null && (filling == null || !filling.isFull()) && take(rest)) {
                held = null;
                rest.release();
            }
            if (complete && !kept && held == null && filling != null) {
                send();
            }
        } catch (IOException | RuntimeException e) {
            fail(e);
        }
    }

    /** No piece has come for half of the time after which it would be swept. */
    private void idle() {
        lock.lock();
        try {
            if (!flying.isEmpty() || publication != null || closed || failure != null) {
                return;
            } else if (form.arrivals != arrivals) { // a piece that is not going to be of the object tells a sweep
                Segment sign = new Segment(1, () -> {});
                sign.add(Unpooled.wrappedBuffer(new byte[1]), new CRC32());
                fly(form.sinks.mostPieces + 1, sign.seal());
                return;
            }
            fail(new IOException("the upload was idle for half of " + form.sinks.maxAge));
            abort();
        } finally {
            lock.unlock();
        }
        advance();
    }

    // ---- ends

    @Override
    public Readiness publish() throws IOException {
        Readiness ready = Readiness.pending();
        CompletableFuture<ObjectStore.Stored> made;
        lock.lock();
        try {
            checkFailure();
            watch.stop();
            Note note = form.note();
            CompletableFuture<String> created = upload;
            if (created == null) {
                Segment body = filling == null ? new Segment(0, () -> {}) : filling;
                made = note.written().thenCompose(there -> store.put(target, body));
            } else {
                List<ObjectStore.Piece> all = new ArrayList<>(pieces.values());
                String crc32 = Segment.base64(crc);
                made = note.written()
                        .thenCompose(there -> created)
                        .thenCompose(id -> store.complete(target, id, all, size, crc32));
            }
            made = made.thenCompose(object -> locked(() -> note.visible(this)).thenApply(told -> object));
            publication = made;
        } finally {
            lock.unlock();
        }
        form.sinks.begun();
        made.whenComplete((object, cause) -> published(object, cause, ready));
        return ready;
    }

    private void published(ObjectStore.@Nullable Stored object, @Nullable Throwable cause, Readiness ready) {
        lock.lock();
        try {
            if (object != null && !closed) {
                stored = object;
                ready.ready(); // under the lock: who closes this sees both or none
                form.sinks.ended();
                return;
            }
        } finally {
            lock.unlock();
        }
        Throwable reason = Retries.unwrap(cause == null ? new IOException("the sink was closed") : cause);
        locked(() -> form.note().takingBack())
                .thenCompose(known -> undo())
                .handle((gone, problem) -> {
                    if (problem != null) {
                        reason.addSuppressed(mayBeThere(problem));
                    }
                    return null;
                })
                .thenCompose(done -> form.takeBack())
                .whenComplete((done, problem) -> {
                    ready.fail(reason);
                    form.sinks.ended();
                });
    }

    private IOException mayBeThere(Throwable cause) {
        return new IOException("the object " + target.key() + " may be in the store", Retries.unwrap(cause));
    }

    /** Whatever has become of it. */
    private CompletableFuture<Void> undo() {
        return abort().handle((done, cause) -> cause)
                .thenCompose(cause -> store.retract(target)
                        .thenCompose(gone -> cause == null
                                ? CompletableFuture.completedFuture(null)
                                : CompletableFuture.failedFuture(cause)))
                .thenCompose(gone -> undone());
    }

    private CompletableFuture<Void> undone() {
        return locked(() -> {
            form.undone(this);
            return CompletableFuture.completedFuture(null);
        });
    }

    private <T> CompletableFuture<T> locked(Supplier<CompletableFuture<T>> step) {
        lock.lock();
        try {
            return step.get();
        } finally {
            lock.unlock();
        }
    }

    private CompletableFuture<Void> abort() {
        CompletableFuture<String> created = upload;
        if (created == null) {
            return CompletableFuture.completedFuture(null);
        }
        form.sinks.begun();
        return created.handle((id, never) -> id)
                .thenCompose(id -> id == null
                        ? CompletableFuture.completedFuture((Void) null)
                        : store.abort(new ObjectStore.Upload(target.key(), id)).thenRun(this::aborted))
                .whenComplete((done, cause) -> form.sinks.ended());
    }

    /** Told once: it is ended again for what comes late. */
    private void aborted() {
        if (!isAborted.getAndSet(true)) {
            form.sinks.told.that(StoreMetrics::aborted);
        }
    }

    /** {@return complete when the object is deleted; asked for once} */
    CompletableFuture<Void> retraction() {
        lock.lock();
        try {
            CompletableFuture<Void> asked = retraction;
            if (asked == null) {
                form.sinks.begun();
                asked = form.note()
                        .takingBack()
                        .thenCompose(known -> store.retract(target))
                        .thenCompose(gone -> undone());
                asked.whenComplete((done, cause) -> form.sinks.ended());
                retraction = asked;
            }
            return asked;
        } finally {
            lock.unlock();
        }
    }

    /** Another object that failed has had this one deleted; where another kind of sink failed, this waits for the store. */
    @Override
    public void retract() throws IOException {
        try {
            retraction().get(RETRACT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw mayBeThere(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw mayBeThere(e);
        }
        stored = null;
    }

    @Override
    public void close() {
        List<CompletableFuture<ObjectStore.Piece>> underWay;
        Segment last;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            underWay = List.copyOf(flying);
            last = filling;
            filling = null;
            waiting = null;
            watch.stop();
            if (held != null) {
                held.release();
                held = null;
            }
        } finally {
            lock.unlock();
        }
        underWay.forEach(flight -> flight.cancel(true));
        CompletableFuture<?> made = publication;
        if (made == null) {
            form.sinks.begun();
            abort().thenCompose(done -> undone()).whenComplete((done, cause) -> form.sinks.ended());
            if (!underWay.isEmpty()) {
                form.sinks.begun();
                CompletableFuture.delayedExecutor(AGAIN_MILLIS, TimeUnit.MILLISECONDS)
                        .execute(() -> abort().whenComplete((done, cause) -> form.sinks.ended()));
            }
        }
        if (last != null) {
            if (made == null) {
                last.release();
            } else {
                made.whenComplete((done, cause) -> last.release());
            }
        }
        form.ended();
    }
}
