package dev.sluice.buffer;

import io.netty.util.ResourceLeakHint;

/**
 * What to give to {@link io.netty.buffer.ByteBuf#touch(Object)}, so that a leak report names the part that was not
 * released. The text is made only when a record is made.
 *
 * @param partIndex 0-based index of the part, -1 for none
 * @param offset bytes from the start of the multipart body, 0-based
 */
public record TouchHint(int partIndex, long offset) implements ResourceLeakHint {
    @Override
    public String toHintString() {
        return partIndex < 0 ? "offset " + offset : "part " + partIndex + ", offset " + offset;
    }
}
