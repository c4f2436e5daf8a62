package dev.sluice.bench.body;

import java.nio.ByteBuffer;

/**
 * A range of octets of a body. Two are equal when they are the same octets in memory.
 *
 * @param array the memory, shared and not to be written
 * @param offset of the first octet in the array
 * @param length in octets
 */
public record Slice(byte[] array, int offset, int length) {

    /** The octets, not to be written: a buffer of its own that starts at 0. */
    public ByteBuffer octets() {
        return ByteBuffer.wrap(array, offset, length).slice();
    }
}
