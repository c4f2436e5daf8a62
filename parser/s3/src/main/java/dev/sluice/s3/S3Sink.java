package dev.sluice.s3;

import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * One file of a form: its sink, which fills segments and passes them to the {@link FormUpload}, and the state of its upload.
 *
 * <p>Only events of the form (see {@link FormUpload}) access the variables of the upload. The variables of the sink are accessed by the
 * caller while the sink is ready. While the sink waits for memory, and after it is complete or closed, only events access them.
 */
final class S3Sink implements PartSink {
    // ---- the upload

    final PartHead part;
    final ObjectStore.Target target;

    /** The number of the file in the form, from 1. */
    final String number;

    /** Whether the application has chosen the key. */
    final boolean isChosen;

    final TreeMap<Integer, ObjectStore.Piece> pieces = new TreeMap<>();

    /** The multipart upload, or null if there is none. */
    @Nullable
    CompletableFuture<ObjectStore.Created> upload;

    /** The key of the intent, or null if there is none. */
    @Nullable
    String intent;

    /** The number of pieces, known when the file has arrived; 0 before, and if one request stores it. */
    int pieceCount;

    /** The content of a file that one request stores, until it is sent. */
    @Nullable
    Segment content;

    boolean isPublished;

    /** Whether the request that stores the object has been sent. */
    boolean isStoring;

    ObjectStore.@Nullable Stored stored;

    // ---- the sink

    private final FormUpload form;
    private final CRC32 crc = new CRC32();
    long size;

    /** The number of pieces that were passed to the form. */
    int sent;

    private @Nullable Segment filling;
    private @Nullable ByteBuf held;
    private @Nullable Readiness waiting;
    private volatile boolean isDone;

    S3Sink(FormUpload form, PartHead part, ObjectStore.Target target, String number, boolean isChosen) {
        this.form = form;
        this.part = part;
        this.target = target;
        this.number = number;
        this.isChosen = isChosen;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        checkOpen();
        form.renewIntent();
        if (take(data, form.events::post)) {
            return Readiness.READY;
        }
        held = data.retainedSlice();
        Readiness ready = Readiness.pending();
        waiting = ready;
        form.events.post(() -> form.await(this));
        return ready;
    }

    @Override
    public Readiness complete() throws IOException {
        checkOpen();
        isDone = true;
        Segment last = filling;
        filling = null;
        form.events.post(() -> form.arrived(this, last));
        return Readiness.READY;
    }

    /** {@inheritDoc} The form commits all files together. */
    @Override
    public Readiness publish() throws IOException {
        form.checkFailure();
        form.events.post(() -> isPublished = true);
        return Readiness.READY;
    }

    @Override
    public void close() {
        isDone = true;
        form.events.post(this::discard);
    }

    private void checkOpen() throws IOException {
        if (isDone) {
            throw new IllegalStateException("the sink is complete or closed: use one sink per part");
        }
        form.checkFailure();
    }

    /**
     * {@return whether all bytes were taken; otherwise the rest needs a lease of memory}
     *
     * @param events runs events of the form
     */
    private boolean take(ByteBuf data, Executor events) throws IOException {
        while (data.isReadable()) {
            Segment open = filling;
            if (open == null) {
                if (sent == form.sinks.maxPieces) {
                    throw part.because(Reason.PART_TOO_LARGE).ownLimit(size).build();
                }
                open = form.newSegment();
                filling = open;
            }
            if (open.isFull() && !open.makeRoom(data.readableBytes())) {
                return false;
            }
            long before = open.size();
            open.add(data, crc);
            size += open.size() - before;
            sendIfFull(open, events);
        }
        return true;
    }

    private void sendIfFull(Segment open, Executor events) {
        if (open.isLeased()
                && (open.isFull() || open.size() >= SegmentMemory.MIN_SEGMENT && form.sinks.memory.isShort())) {
            int piece = ++sent;
            filling = null;
            events.execute(() -> form.send(this, piece, open));
        }
    }

    // ---- events

    /** Continues to take the bytes that waited, with a new lease of memory. */
    void resume(long capacity) {
        ByteBuf rest = held;
        Segment open = filling;
        if (rest == null || open == null) { // the sink was closed in the meantime
            form.sinks.memory.returnSegment(capacity);
            return;
        }
        form.lease(open, capacity);
        try {
            if (take(rest, Runnable::run)) {
                held = null;
                rest.release();
                settle(null);
            } else {
                form.await(this); // the buffer is larger than a segment
            }
        } catch (IOException | RuntimeException | Error e) {
            form.fail(e);
            settle(e);
        }
    }

    String crc32() {
        return Segment.base64(crc);
    }

    /** Ends the wait for memory, if there is one. */
    void settle(@Nullable Throwable failure) {
        Readiness ready = waiting;
        waiting = null;
        if (ready != null && failure != null) {
            ready.fail(failure);
        } else if (ready != null) {
            ready.ready();
        }
    }

    private void discard() {
        waiting = null;
        if (held != null) {
            held.release();
            held = null;
        }
        if (filling != null) {
            form.discard(filling);
            filling = null;
        }
    }

    // ---- for the events of the form

    /** {@return whether another upload under the same key may exist, so that a sweep must look for it} */
    boolean mayHaveHiddenUpload() {
        return uploadId() != null && !Objects.requireNonNull(upload).join().isOnly();
    }

    /** {@return the multipart upload, or null if there is none} */
    @Nullable
    String uploadId() {
        return upload == null || !upload.isDone() || upload.isCompletedExceptionally()
                ? null
                : upload.join().id();
    }

    /** {@return whether the store may have an object or an upload of this file} */
    boolean isBegun() {
        return upload != null || isStoring;
    }

    /** {@return whether {@link #isBegun}, and the record of the committed form does not list it} */
    boolean isUnlisted() {
        return !isPublished && !isChosen && isBegun();
    }

    /** {@return the stored file, for the record} */
    FormRecord.File recorded() {
        return new FormRecord.File(
                Objects.requireNonNullElse(part.name(), ""),
                Objects.requireNonNullElse(part.filename(), ""),
                target.contentType(),
                Objects.requireNonNull(stored),
                uploadId());
    }

    void releaseContent() {
        if (content != null) {
            content.release();
            content = null;
        }
    }
}
