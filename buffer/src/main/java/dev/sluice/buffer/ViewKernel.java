package dev.sluice.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The loops of the search over a direct NIO buffer: {@link ArrayKernel} once more. Indices are absolute ones of the
 * buffer.
 */
final class ViewKernel {
    private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** More bytes than a chunk has. */
    static final int NONE = Integer.MAX_VALUE;

    /** As {@link ArrayKernel#LEAST_OF_PASS}; {@link #NONE} where the JIT makes no vectors of loops over buffers. */
    static final int LEAST_OF_PASS = leastOfPass(Runtime.version().feature());

    private ViewKernel() {}

    static int leastOfPass(int javaVersion) {
        return javaVersion < 25 ? NONE : ArrayKernel.LEAST_OF_PASS;
    }

    /* As ArrayKernel.pairs. */
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

    /*
     * As ArrayKernel.anyPair. Read by ByteBuffer.getLong, the loop would be vectors or not, depending on what it is
     * compiled into.
     */
    static boolean anyPair(ByteBuffer memory, int i, int end, int distance, long first, long last) {
        long found = 0;
        for (int at = i; at < end; at += 8) {
            long x = ((long) LONG.get(memory, at) ^ first) | ((long) LONG.get(memory, at + distance) ^ last);
            found |= (x - Swar.ONES) & ~x;
        }
        return (found & Swar.TOPS) != 0;
    }

    /* As ArrayKernel.grams. */
    static int grams(ByteBuffer memory, int q, int end, int stride, long[] set) {
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

    /* As ArrayKernel.indexOfBreak. */
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

    /* As ArrayKernel.matching. */
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
