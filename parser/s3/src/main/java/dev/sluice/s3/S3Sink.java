package dev.sluice.s3;

import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The sink of one file: fills segments and passes them to the {@link FormUpload}, which sends them.
 *
 * <p>Its fields belong to the caller while the sink is ready, and to the events of the form while the sink waits for memory, and after
 * it was closed.
 */
final class S3Sink implements PartSink {
    final FileUpload file;
    private final FormUpload form;
    private final CRC32 crc = new CRC32();
    private long size;
    private int sent;
    private @Nullable Segment filling;
    private @Nullable ByteBuf held;
    private @Nullable Readiness waiting;
    private boolean complete;
    private volatile boolean closed;

    S3Sink(FormUpload form, FileUpload file) {
        this.form = form;
        this.file = file;
    }

    PartHead part() {
        return file.part;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        checkOpen();
        form.keepYoung();
        if (take(data)) {
            return Readiness.READY;
        }
        held = data.retainedSlice();
        Readiness ready = Readiness.pending();
        waiting = ready;
        form.post(() -> form.await(this));
        return ready;
    }

    @Override
    public Readiness complete() throws IOException {
        checkOpen();
        complete = true;
        Segment last = filling;
        filling = null;
        if (last != null) {
            last.seal();
        }
        String sum = Segment.base64(crc);
        int pieces = sent;
        form.post(() -> form.arrived(file, last, pieces, size, sum));
        return Readiness.READY;
    }

    /** {@inheritDoc} The form commits all files together. */
    @Override
    public Readiness publish() throws IOException {
        form.checkFailure();
        form.post(() -> file.isPublished = true);
        return Readiness.READY;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            form.post(this::discard);
        }
    }

    private void checkOpen() throws IOException {
        if (complete || closed) {
            throw new IllegalStateException(
                    "the sink is " + (closed ? "closed" : "complete") + ": use one sink per part");
        }
        form.checkFailure();
    }

    /** {@return whether all bytes were taken; otherwise there is no memory for the rest now} */
    private boolean take(ByteBuf data) throws IOException {
        while (data.isReadable()) {
            Segment open = filling;
            if (open == null) {
                if (sent == form.sinks.mostPieces) {
                    throw part().because(Reason.PART_TOO_LARGE).ownLimit(size).build();
                }
                open = form.segments.newSegment();
                filling = open;
            }
            if (open.isFull() && !form.segments.makeRoom(open, data.readableBytes(), sent + 1)) {
                return false;
            }
            long before = open.size();
            open.add(data, crc);
            size += open.size() - before;
            sendIfFull(open);
        }
        return true;
    }

    private void sendIfFull(Segment open) {
        if (open.isLeased()
                && (open.isFull() || open.size() >= SegmentMemory.LEAST_SEGMENT && form.sinks.memory.isShort())) {
            int number = ++sent;
            filling = null;
            open.seal();
            form.segments.queued(open);
            form.post(() -> form.send(file, number, open));
        }
    }

    // ---- events

    /** Continues with a new lease. */
    void resume(long capacity) {
        ByteBuf rest = held;
        Segment open = filling;
        if (rest == null || open == null) { // it was closed meanwhile
            form.sinks.memory.returnSegment(capacity);
            return;
        }
        form.segments.useLease(open, capacity);
        try {
            if (take(rest)) {
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

    /** {@return the number of the piece that waits for memory} */
    int next() {
        return sent + 1;
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
            form.segments.discard(filling);
            filling = null;
        }
    }
}
