package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a part in memory up to a threshold, then in a file. {@link #close()} deletes a part that is not complete; one
 * that is stays here, also after {@code close}, for {@link #takeContent()}.
 *
 * <p>Whoever made the sink owns what was completed and is not yet taken, also where the form that fed the sink fails
 * later: take it, or {@link #discard()} it. Else its file stays until the {@link SpoolDirectory} is closed, and its
 * memory stays charged.
 */
public final class SpillSink implements PartSink {
    private final RequestMemory memory;
    private final @Nullable SpoolDirectory spool;
    private final long threshold;
    private final int partIndex;
    private final long partOffset;
    private final SinkState state = new SinkState();
    private @Nullable MemoryContent inMemory;
    private @Nullable SpoolFile file;
    private @Nullable PartContent content;

    /** Without a spool, everything stays in memory, or is refused there. */
    SpillSink(RequestMemory memory, @Nullable SpoolDirectory spool, long threshold, int partIndex, long partOffset) {
        this.memory = memory;
        this.inMemory = new MemoryContent(memory, spool != null);
        this.spool = spool;
        this.threshold = threshold;
        this.partIndex = partIndex;
        this.partOffset = partOffset;
    }

    /**
     * {@return a sink for one part, outside of a form}
     *
     * @param spool where the file goes
     * @param threshold the largest size that stays in memory, in bytes, 0 or more
     * @param budget what the memory is charged to; where it refuses, the part goes to the file
     */
    public static SpillSink create(SpoolDirectory spool, long threshold, MemoryBudget budget) {
        return new SpillSink(new RequestMemory(budget, Long.MAX_VALUE), spool, threshold, -1, -1);
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        state.checkWritable();
        if (inMemory != null) {
            boolean fits = spool == null || data.readableBytes() <= threshold - inMemory.size();
            if (fits && inMemory.append(data)) {
                return;
            }
            if (spool == null) {
                throw memory.refusal(partOffset < 0 ? -1 : partOffset + inMemory.size(), partIndex);
            }
            spill(spool, inMemory);
        }
        if (file != null && data.isReadable()) {
            file.write(data);
        }
    }

    private void spill(SpoolDirectory to, MemoryContent from) throws IOException {
        file = to.create();
        file.write(from);
        inMemory = null;
        from.release();
    }

    @Override
    public void complete() throws IOException {
        state.complete();
        if (file != null) {
            file.complete();
            content = PartContent.of(file);
            file = null;
        } else if (inMemory != null) {
            inMemory.trim();
            content = PartContent.of(inMemory);
            inMemory = null;
        }
    }

    /**
     * {@return the part, which belongs to the caller from here on; before or after {@link #close()}}
     *
     * @throws IllegalStateException before {@link #complete()}, and if it was taken or discarded before
     */
    public PartContent takeContent() {
        state.requireComplete();
        PartContent taken = content;
        if (taken == null) {
            throw new IllegalStateException("the content was taken or discarded");
        }
        content = null;
        return taken;
    }

    /**
     * Closes this and deletes the part, complete or not, unless it was taken. Idempotent.
     *
     * @throws IOException as {@link #close()}
     */
    public void discard() throws IOException {
        close();
        PartContent left = content;
        if (left != null) {
            content = null;
            left.close();
        }
    }

    @Override
    public void close() throws IOException {
        if (state.close()) {
            try {
                if (file != null) {
                    file.close();
                }
            } finally {
                file = null;
                if (inMemory != null) {
                    inMemory.release();
                    inMemory = null;
                }
            }
        }
    }
}
