package dev.sluice.bench.peer;

import java.nio.ByteBuffer;

/**
 * A range of bytes of a body. Two are equal when they are the same bytes in memory.
 *
 * @param array the memory, shared and not to be written
 * @param offset of the first byte in the array
 * @param length in bytes
 */
public record Slice(byte[] array, int offset, int length) {
    /** The bytes, not to be written: a buffer of its own that starts at 0. */
    public ByteBuffer bytes() {
        return ByteBuffer.wrap(array, offset, length).slice();
    }
}
