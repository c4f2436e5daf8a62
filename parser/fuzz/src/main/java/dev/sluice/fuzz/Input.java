package dev.sluice.fuzz;

import java.util.Arrays;

/** The bytes that the fuzzer has made, read from the front; beyond their end are zeros. */
final class Input {
    private final byte[] bytes;
    private int at;

    Input(byte[] bytes) {
        this.bytes = bytes;
    }

    /** {@return the next byte, 0 to 255} */
    int next() {
        return at < bytes.length ? bytes[at++] & 0xFF : 0;
    }

    /** {@return a number below {@code bound}, which is 256 at most} */
    int below(int bound) {
        return next() % bound;
    }

    int left() {
        return bytes.length - at;
    }

    /** {@return the next bytes, as many as there are up to {@code count}} */
    byte[] take(int count) {
        int from = at;
        at = Math.min(bytes.length, at + count);
        return Arrays.copyOfRange(bytes, from, at);
    }

    byte[] rest() {
        return take(left());
    }
}
