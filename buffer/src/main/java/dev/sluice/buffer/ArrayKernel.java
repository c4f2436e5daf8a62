package dev.sluice.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The inner loops of {@link DelimiterSearch} over a byte array. {@link ViewKernel} has the same loops over NIO buffers, because one loop
 * for both kinds of memory would be slower. Eight bytes are compared at once in a {@code long}, see {@link Swar}.
 */
final class ArrayKernel {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /**
     * The smallest number of bytes for which {@link #anyPair} is worth a call. For fewer bytes, the scalar loops that the JIT adds before
     * and after the vector loop take too much of the time.
     */
    static final int MIN_PASS_LENGTH = 256;

    /** The distance between the words that {@link #anyWord} reads, in bytes. */
    static final int WORD_STRIDE = 56;

    private ArrayKernel() {}

    /*
     * for each block of 16 positions from i, while a whole block fits before end:
     *     if any position p has byte `first` at p and byte `last` at p + distance, and any has a line break at p - 1: return the block
     * return the end of the last whole block
     *
     * `first` and `last` contain the byte eight times. A byte of (word ^ first) is 0 where the word has that byte, so a byte of x or y is 0
     * where both bytes match. (x - ONES) & ~x has a top bit set if and only if some byte of x is 0. The pair and the line break may be at
     * different positions, so a block without a match may be returned. A block with a match is never skipped.
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
     * The loop has no branch, so the JIT vectorizes it, but only if the caller passes a variable as `distance` and not a sum.
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
     * for q = i, i + stride, ... while a gram fits before end:
     *     if the gram at q is in the set: return q
     * return q
     *
     * The stride is at most the number of grams in the delimiter, counted with a line break of one byte, and the set contains all grams of
     * the delimiter. So one gram of every occurrence of the delimiter is probed and found. The first loops probe four grams in each round,
     * which the processor does in parallel.
     */
    static int grams(byte[] memory, int i, int end, int stride, Grams set) {
        int last = end - Grams.LENGTH;
        int q = stride == Grams.FIXED_STRIDE ? skipByFixedStride(memory, i, end, set) : i;
        while (q <= last - 3 * stride
                && !set.contains((int) INT.get(memory, q))
                && !set.contains((int) INT.get(memory, q + stride))
                && !set.contains((int) INT.get(memory, q + 2 * stride))
                && !set.contains((int) INT.get(memory, q + 3 * stride))) {
            q += 4 * stride;
        }
        while (q <= last && !set.contains((int) INT.get(memory, q))) {
            q += stride;
        }
        return q;
    }

    /* Probes rounds of four grams. Returns the start of the first round that has a gram of the set, or does not fit before end. */
    private static int skipByFixedStride(byte[] memory, int i, int end, Grams set) {
        int last = end - Grams.LENGTH;
        int q = i;
        for (; q <= last - 3 * Grams.FIXED_STRIDE; q += 4 * Grams.FIXED_STRIDE) {
            if (set.contains((int) INT.get(memory, q))
                    | set.contains((int) INT.get(memory, q + Grams.FIXED_STRIDE))
                    | set.contains((int) INT.get(memory, q + 2 * Grams.FIXED_STRIDE))
                    | set.contains((int) INT.get(memory, q + 3 * Grams.FIXED_STRIDE))) {
                break;
            }
        }
        return q;
    }

    /*
     * Returns whether any of the 8-byte words at i, i + WORD_STRIDE, and so on is equal to `value` in the bits of `mask`. The last word ends
     * at `end` or before.
     *
     * The distance is a constant, because the JIT then removes the bounds checks and unrolls the loop.
     */
    static boolean anyWord(byte[] memory, int i, int end, long mask, long value) {
        int to = end - 7;
        for (int at = i; at < to; at += WORD_STRIDE) {
            if (((long) LONG.get(memory, at) & mask) == value) {
                return true;
            }
        }
        return false;
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

    /* Returns the number of equal bytes before the first difference, at most `length`, in memory from i and in text from `from`. */
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
