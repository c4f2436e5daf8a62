package dev.sluice.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The loops of the search over a byte array. Indices are those of the array. {@link ViewKernel} is the same over NIO
 * buffers.
 */
final class ArrayKernel {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** Bytes below which {@link #anyPair} is not worth its start: it has a part before and one behind the vectors. */
    static final int LEAST_OF_PASS = 256;

    private ArrayKernel() {}

    /*
     * for i, i + 16, ... while 16 starts remain below end:
     *     if any of the 16 has byte first there and byte last `distance` behind it, and any a line break before it: return i
     * return i
     *
     * A byte of (word ^ pattern) is 0 where the word has the byte, so a byte of the OR is 0 where both fit. (x -
     * 01..) & ~x has a top bit set if and only if some byte of x is 0. May point at a block without a match, never
     * passes over one.
     */
    static int pairs(byte[] memory, int i, int end, int distance, long first, long last) {
        while (i <= end - Swar.BLOCK) {
            long x = ((long) LONG.get(memory, i) ^ first) | ((long) LONG.get(memory, i + distance) ^ last);
            long y = ((long) LONG.get(memory, i + 8) ^ first) | ((long) LONG.get(memory, i + 8 + distance) ^ last);
            if ((((x - Swar.ONES) & ~x | (y - Swar.ONES) & ~y) & Swar.TOPS) != 0
                    && (Swar.breaks((long) LONG.get(memory, i - 1)) | Swar.breaks((long) LONG.get(memory, i + 7)))
                            != 0) {
                return i;
            }
            i += Swar.BLOCK;
        }
        return i;
    }

    /*
     * for i, i + 8, ... below end, which is a whole number of words away:
     *     remember whether any of the 8 has byte first there and byte last `distance` behind it
     * return whether one had
     *
     * Without a branch, so that the JIT makes vectors of it, as long as `distance` is one value to it and no sum. Which
     * of the tops is set does not matter here.
     */
    static boolean anyPair(byte[] memory, int i, int end, int distance, long first, long last) {
        long found = 0;
        for (int at = i; at < end; at += 8) {
            long x = ((long) LONG.get(memory, at) ^ first) | ((long) LONG.get(memory, at + distance) ^ last);
            found |= (x - Swar.ONES) & ~x;
        }
        return (found & Swar.TOPS) != 0;
    }

    /*
     * for q, q + 4 * stride, ... while four grams lie before end:
     *     if any of the 4-byte grams at q, q + stride, q + 2 * stride, q + 3 * stride is in the set: return q
     * return q
     *
     * The stride is the number of grams in the delimiter and the set holds all of them, so each occurrence has one of
     * its grams looked at and found. No probe depends on the one before it, which keeps four in flight.
     */
    static int grams(byte[] memory, int q, int end, int stride, long[] set) {
        int last = end - Grams.LENGTH - 3 * stride;
        while (q <= last) {
            int a = Grams.slot((int) INT.get(memory, q));
            int b = Grams.slot((int) INT.get(memory, q + stride));
            int c = Grams.slot((int) INT.get(memory, q + 2 * stride));
            int d = Grams.slot((int) INT.get(memory, q + 3 * stride));
            if (((set[a >>> 6] >>> a | set[b >>> 6] >>> b | set[c >>> 6] >>> c | set[d >>> 6] >>> d) & 1) != 0) {
                return q;
            }
            q += 4 * stride;
        }
        return q;
    }

    /* first index in [i, end) of a CR or LF, or end */
    static int indexOfBreak(byte[] memory, int i, int end) {
        while (i <= end - 8) {
            long breaks = Swar.breaks((long) LONG.get(memory, i));
            if (breaks != 0) {
                return i + (Long.numberOfTrailingZeros(breaks) >>> 3);
            }
            i += 8;
        }
        while (i < end && memory[i] != '\r' && memory[i] != '\n') {
            i++;
        }
        return i;
    }

    /* how many bytes from i on equal text[from], text[from + 1], ...; at most length */
    static int matching(byte[] memory, int i, byte[] text, int from, int length) {
        int k = 0;
        while (k <= length - 8) {
            long difference = (long) LONG.get(memory, i + k) ^ (long) LONG.get(text, from + k);
            if (difference != 0) {
                return k + (Long.numberOfTrailingZeros(difference) >>> 3);
            }
            k += 8;
        }
        if (length >= 8) { // the rest in one word, with bytes before it that are equal
            int last = length - 8;
            long difference = (long) LONG.get(memory, i + last) ^ (long) LONG.get(text, from + last);
            return difference == 0 ? length : last + (Long.numberOfTrailingZeros(difference) >>> 3);
        }
        while (k < length && memory[i + k] == text[from + k]) {
            k++;
        }
        return k;
    }
}
