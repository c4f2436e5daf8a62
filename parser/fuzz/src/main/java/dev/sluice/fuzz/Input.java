package dev.sluice.fuzz;

import java.util.Arrays;

/** The octets that the fuzzer has made, read from the front; beyond their end are zeros. */
final class Input {
    private final byte[] octets;
    private int at;

    Input(byte[] octets) {
        this.octets = octets;
    }

    /** {@return the next octet, 0 to 255} */
    int next() {
        return at < octets.length ? octets[at++] & 0xFF : 0;
    }

    /** {@return a number below {@code bound}, which is 256 at most} */
    int below(int bound) {
        return next() % bound;
    }

    int left() {
        return octets.length - at;
    }

    /** {@return the next octets, as many as there are up to {@code count}} */
    byte[] take(int count) {
        int from = at;
        at = Math.min(octets.length, at + count);
        return Arrays.copyOfRange(octets, from, at);
    }

    byte[] rest() {
        return take(left());
    }
}
