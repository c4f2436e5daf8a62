package dev.sluice.fuzz;

import java.util.Arrays;

/** A reader of the fuzzer's bytes. Beyond the end it returns zeros. */
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

    /** {@return a number below {@code bound}, which is at most 256} */
    int below(int bound) {
        return next() % bound;
    }

    int left() {
        return bytes.length - at;
    }

    /** {@return the next {@code count} bytes, or fewer at the end} */
    byte[] take(int count) {
        int from = at;
        at = Math.min(bytes.length, at + count);
        return Arrays.copyOfRange(bytes, from, at);
    }

    byte[] rest() {
        return take(left());
    }
}
