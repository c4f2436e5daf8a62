package dev.sluice.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The inner loops of {@link DelimiterSearch} over a direct NIO buffer. {@link ArrayKernel} has the same loops and
 * describes them. Indices are absolute indices of the buffer.
 */
final class ViewKernel {
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** A minimum length that no chunk reaches. */
    static final int NO_PASSES = Integer.MAX_VALUE;

    /** {@link ArrayKernel#MIN_PASS_LENGTH}, or {@link #NO_PASSES} if the JIT does not vectorize loops over NIO buffers. */
    static final int MIN_PASS_LENGTH = minPassLength(Runtime.version().feature());

    private ViewKernel() {}

    static int minPassLength(int javaVersion) {
        return javaVersion < 25 ? NO_PASSES : ArrayKernel.MIN_PASS_LENGTH;
    }

    static int pairs(ByteBuffer memory, int i, int end, int distance, long first, long last) {
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

    /* With ByteBuffer.getLong in place of the VarHandle, the JIT would vectorize this loop only for some callers. */
    static boolean anyPair(ByteBuffer memory, int i, int end, int distance, long first, long last) {
        long found = 0;
        for (int at = i; at < end; at += 8) {
            long x = ((long) LONG.get(memory, at) ^ first) | ((long) LONG.get(memory, at + distance) ^ last);
            found |= (x - Swar.ONES) & ~x;
        }
        return (found & Swar.TOPS) != 0;
    }

    static int grams(ByteBuffer memory, int i, int end, int stride, Grams set) {
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

    private static int skipByFixedStride(ByteBuffer memory, int i, int end, Grams set) {
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

    static boolean anyWord(ByteBuffer memory, int i, int end, long mask, long value) {
        int to = end - 7;
        for (int at = i; at < to; at += ArrayKernel.WORD_STRIDE) {
            if (((long) LONG.get(memory, at) & mask) == value) {
                return true;
            }
        }
        return false;
    }

    static int indexOfBreak(ByteBuffer memory, int i, int end) {
        while (i <= end - 8) {
            long breaks = Swar.breaks((long) LONG.get(memory, i));
            if (breaks != 0) {
                return i + (Long.numberOfTrailingZeros(breaks) >>> 3);
            }
            i += 8;
        }
        while (i < end && memory.get(i) != '\r' && memory.get(i) != '\n') {
            i++;
        }
        return i;
    }

    static int matching(ByteBuffer memory, int i, byte[] text, int from, int length) {
        int k = 0;
        while (k <= length - 8) {
            long difference = (long) LONG.get(memory, i + k) ^ Swar.word(text, from + k);
            if (difference != 0) {
                return k + (Long.numberOfTrailingZeros(difference) >>> 3);
            }
            k += 8;
        }
        if (length >= 8) {
            int last = length - 8;
            long difference = (long) LONG.get(memory, i + last) ^ Swar.word(text, from + last);
            return difference == 0 ? length : last + (Long.numberOfTrailingZeros(difference) >>> 3);
        }
        while (k < length && memory.get(i + k) == text[from + k]) {
            k++;
        }
        return k;
    }
}
