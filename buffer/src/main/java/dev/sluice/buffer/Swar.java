package dev.sluice.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Eight bytes in one word, the first in the lowest bits. */
final class Swar {
    static final long ONES = 0x0101010101010101L;
    static final long TOPS = 0x8080808080808080L;

    private static final long CRS = '\r' * ONES;
    private static final long LFS = '\n' * ONES;

    /** Starts that one turn of the pair kernels looks at. */
    static final int BLOCK = 16;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Swar() {}

    static long repeat(byte b) {
        return (b & 0xffL) * ONES;
    }

    /** {@return a word whose lowest set bit is the top bit of the first byte of x that is 0; 0 if there is none} */
    static long zeros(long x) {
        return (x - ONES) & ~x & TOPS;
    }

    /** {@return as {@link #zeros}, of the first byte that is CR or LF} */
    static long breaks(long x) {
        return zeros(x ^ CRS) | zeros(x ^ LFS);
    }

    static long word(byte[] array, int index) {
        return (long) LONG.get(array, index);
    }
}
