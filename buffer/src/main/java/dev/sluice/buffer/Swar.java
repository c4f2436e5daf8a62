package dev.sluice.buffer;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Operations on eight bytes in a {@code long} ("SIMD within a register"). The first byte is in the lowest bits. */
final class Swar {
    static final long ONES = 0x0101010101010101L;
    static final long TOPS = 0x8080808080808080L;

    private static final long CRS = '\r' * ONES;
    private static final long LFS = '\n' * ONES;

    /** The number of positions that one iteration of {@link ArrayKernel#pairs} checks. */
    static final int BLOCK = 16;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Swar() {}

    /** {@return a word in which all eight bytes are b} */
    static long repeat(byte b) {
        return (b & 0xffL) * ONES;
    }

    /** {@return a word whose lowest set bit is the top bit of the first zero byte of x; 0 if x has no zero byte} */
    static long zeros(long x) {
        return (x - ONES) & ~x & TOPS;
    }

    /** {@return a word whose lowest set bit is the top bit of the first CR or LF in x; 0 if x has neither} */
    static long breaks(long x) {
        return zeros(x ^ CRS) | zeros(x ^ LFS);
    }

    static long word(byte[] array, int index) {
        return (long) LONG.get(array, index);
    }
}
