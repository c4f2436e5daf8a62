package dev.sluice.encode;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;

/** Generator of boundaries that cannot be predicted. Thread-safe. */
public final class RandomBoundary {
    /** 192 bits: content that was written before the boundary was chosen does not contain it. */
    private static final int SIZE = 24;

    private static final int COUNT = 64;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Random bytes for several boundaries, because a call of the generator takes longer than to write a small form. */
    private static final class Batch {
        final byte[] bytes = new byte[COUNT * SIZE];
        final AtomicInteger used = new AtomicInteger();

        Batch() {
            RANDOM.nextBytes(bytes);
        }
    }

    private static volatile Batch batch = new Batch();

    private RandomBoundary() {}

    /** {@return 48 hexadecimal digits} */
    public static String next() {
        Batch current = batch;
        int index = current.used.getAndIncrement();
        if (index >= COUNT) {
            current = new Batch();
            index = current.used.getAndIncrement();
            batch = current; // replaces the batch of another thread, whose rest is not used
        }
        return HexFormat.of().formatHex(current.bytes, index * SIZE, (index + 1) * SIZE);
    }
}
