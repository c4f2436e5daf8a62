package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBuf;
import java.io.IOException;

/**
 * Keeps a part in memory, on the heap.
 *
 * <p>The charge to the budget ends with {@link #close()}, and a form closes its sinks as soon as their part has ended.
 * The bytes of a complete part can be had after that too, for as long as the sink is reachable; they are not counted
 * then.
 */
public final class MemorySink implements PartSink {
    private final RequestMemory memory;
    private final MemoryContent content;
    private final long maxBytes;
    private final SinkState state = new SinkState();

    private MemorySink(long maxBytes, MemoryBudget budget) {
        this.memory = new RequestMemory(budget, Long.MAX_VALUE);
        this.content = new MemoryContent(memory, false);
        this.maxBytes = maxBytes;
    }

    /**
     * {@return a sink}
     *
     * @param maxBytes the largest size, in bytes, 0 or more; beyond it the part is refused as too large (413)
     * @param budget what the memory is charged to, until {@link #close()}
     */
    public static MemorySink create(long maxBytes, MemoryBudget budget) {
        return new MemorySink(maxBytes, budget);
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        state.checkWritable();
        if (data.readableBytes() > maxBytes - content.size()) {
            throw MultipartException.of(
                    Reason.PART_TOO_LARGE,
                    -1,
                    -1,
                    "the size of the part in memory exceeds the limit of " + maxBytes + " bytes (set for its sink)");
        }
        if (!content.append(data)) {
            throw memory.refusal(-1, -1);
        }
    }

    @Override
    public void complete() {
        state.complete();
        content.trim();
    }

    /**
     * {@return the bytes: a new array; before or after {@link #close()}}
     *
     * @throws IllegalStateException before {@link #complete()}
     */
    public byte[] toByteArray() {
        state.requireComplete();
        return content.toArray();
    }

    @Override
    public void close() {
        if (state.close()) {
            if (!state.isComplete()) {
                content.release();
            }
            memory.close();
        }
    }
}
