package dev.sluice.bench.peer;

import java.nio.ByteBuffer;

/**
 * A range of bytes of a body. Two slices are equal if they are the same range of the same array.
 *
 * @param array the shared memory; do not write to it
 */
public record Slice(byte[] array, int offset, int length) {
    /** Returns the bytes as a new buffer that starts at 0; do not write to it. */
    public ByteBuffer bytes() {
        return ByteBuffer.wrap(array, offset, length).slice();
    }
}
