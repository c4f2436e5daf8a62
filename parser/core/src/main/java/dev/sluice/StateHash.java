package dev.sluice;

import java.util.zip.CRC32C;

/**
 * A 64-bit hash of everything that can influence what a decoder does next: equal hashes mean equal futures, but for a collision. For the
 * proof that chunks do not matter.
 */
final class StateHash {
    private long value = 0xcbf29ce484222325L;

    StateHash add(long number) {
        long mixed = (value ^ number) * 0x9E3779B97F4A7C15L;
        value = mixed ^ mixed >>> 29;
        return this;
    }

    StateHash add(boolean flag) {
        return add(flag ? 1 : 2);
    }

    StateHash add(byte[] array, int from, int to) {
        CRC32C sum = new CRC32C();
        sum.update(array, from, to - from);
        return add(to - from).add(sum.getValue());
    }

    long value() {
        return value;
    }
}
