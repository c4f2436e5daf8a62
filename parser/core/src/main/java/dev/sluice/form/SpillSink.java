package dev.sluice.form;

import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** A sink that stores a part in the form: in memory up to a threshold, then in a file. */
final class SpillSink implements PartSink {
    private final FormMemory memory;
    private final boolean mayMove;
    private final long threshold;
    private final PartHead head;
    private final PartContent content;

    /** @param mayMove whether the part may move to a file; otherwise the form fails when memory is short */
    SpillSink(FormMemory memory, boolean mayMove, long threshold, PartHead head) {
        this.memory = memory;
        this.mayMove = mayMove;
        this.threshold = threshold;
        this.head = head;
        this.content = new PartContent(new MemoryContent(memory, mayMove));
    }

    /** {@return the content; a caller that takes it after {@link #complete()} closes it instead of this sink} */
    PartContent content() {
        return content;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        boolean fits = !mayMove || !content.isInMemory() || data.readableBytes() <= threshold - content.size();
        if (!fits || !content.write(data)) {
            if (!mayMove) {
                throw memory.refusal(head, content.size());
            }
            content.moveToFile(memory, head);
            content.write(data);
        }
        return Readiness.READY;
    }

    @Override
    public Readiness complete() throws IOException {
        content.complete();
        return Readiness.READY;
    }

    @Override
    public void close() {
        content.close();
    }
}
