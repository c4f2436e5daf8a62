package dev.sluice.form;

import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Keeps a part for the form: in memory up to a threshold, then in a file. */
final class SpillSink implements PartSink {
    private final FormMemory memory;
    private final boolean mayMove;
    private final long threshold;
    private final PartHead head;
    private @Nullable MemoryContent inMemory;
    private @Nullable SpoolFile file;
    private @Nullable PartContent content;

    /** @param mayMove whether it may go to a file, or stays in memory, or is refused there */
    SpillSink(FormMemory memory, boolean mayMove, long threshold, PartHead head) {
        this.memory = memory;
        this.inMemory = new MemoryContent(memory, mayMove);
        this.mayMove = mayMove;
        this.threshold = threshold;
        this.head = head;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        if (inMemory != null) {
            boolean fits = !mayMove || data.readableBytes() <= threshold - inMemory.size();
            if (fits && inMemory.append(data)) {
                return Readiness.READY;
            }
            if (!mayMove) {
                throw memory.refusal(head, inMemory.size());
            }
            spill(inMemory);
        }
        if (file != null && data.isReadable()) {
            file.write(data);
        }
        return Readiness.READY;
    }

    private void spill(MemoryContent from) throws IOException {
        file = memory.newFile(head);
        file.write(from);
        inMemory = null;
        from.release();
    }

    /** {@return how much memory {@link #evict} would give back} */
    long evictable() {
        return inMemory == null ? 0 : inMemory.evictable();
    }

    /** Goes on in a file, as it may. */
    void evict() throws IOException {
        if (inMemory != null) {
            spill(inMemory);
        }
    }

    @Override
    public Readiness complete() throws IOException {
        if (file != null) {
            file.complete();
            content = PartContent.of(file);
            file = null;
        } else if (inMemory != null) {
            inMemory.trim();
            content = PartContent.of(inMemory);
            inMemory = null;
        }
        return Readiness.READY;
    }

    /** {@return the complete part, which belongs to the caller from here on} */
    @Nullable
    PartContent takeContent() {
        PartContent taken = content;
        content = null;
        return taken;
    }

    @Override
    public void close() {
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
            if (content != null) {
                content.close();
                content = null;
            }
        }
    }
}
