package dev.sluice.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The inner loops of {@link DelimiterSearch} over a byte array. {@link ViewKernel} has the same loops over NIO buffers, because one loop
 * for both kinds of memory would be slower. Several bytes are compared at once in a {@code long}, see {@link Swar}.
 */
final class ArrayKernel {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /**
     * The smallest number of bytes for which {@link #anyPair} is worth a call. The JIT adds scalar loops before and
     * after the vector loop.
     */
    static final int MIN_PASS_LENGTH = 256;

    private ArrayKernel() {}

    /*
     * for each block of 16 positions from i, while a whole block fits before end:
     *     if any position p has byte `first` at p and byte `last` at p + distance, and any has a line break at p - 1: return the block
     * return the end of the last whole block
     *
     * A byte of (word ^ pattern) is 0 where the word has the byte, so a byte of the OR is 0 where both bytes match. (x - 01..) & ~x
     * has a top bit set if and only if some byte of x is 0. The two conditions may be true for different positions, so a block without
     * a match may be returned. A block with a match is never skipped.
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
     * Returns whether any position p in [i, end) has byte `first` at p and byte `last` at p + distance. The length of the range must be
     * a multiple of 8.
     *
     * The loop has no branch, so the JIT vectorizes it, but only if `distance` is a plain value in the caller and not a sum.
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
     * for q, q + 4 * stride, ... while four grams fit before end:
     *     if any of the 4-byte grams at q, q + stride, q + 2 * stride, q + 3 * stride is in the set: return q
     * return q
     *
     * The stride is the number of grams in the delimiter, and the set contains all of them, so every occurrence of the delimiter has one
     * gram that is probed and found. The four probes are independent of each other, so the processor runs them in parallel.
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

    /* Returns the first index in [i, end) of a CR or LF, or end. */
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

    /* Returns the number of equal bytes, at most `length`, in memory from i and in text from `from`. */
    static int matching(byte[] memory, int i, byte[] text, int from, int length) {
        int k = 0;
        while (k <= length - 8) {
            long difference = (long) LONG.get(memory, i + k) ^ (long) LONG.get(text, from + k);
            if (difference != 0) {
                return k + (Long.numberOfTrailingZeros(difference) >>> 3);
            }
            k += 8;
        }
        if (length >= 8) { // compares the rest in one word that overlaps bytes known to be equal
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
