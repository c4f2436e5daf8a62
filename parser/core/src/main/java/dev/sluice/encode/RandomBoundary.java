package dev.sluice.encode;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A generator of boundaries that cannot be predicted. Thread-safe.
 *
 * <p>A boundary has 128 random bits, so content that exists before the boundary does not contain it. It consists of 64 letters, each of
 * which is t, u, v or w. These letters differ in two bits only, and eight of them in a row are rare in content. Therefore {@link
 * DelimiterCheck} reads few bytes to show that content does not contain the boundary.
 */
public final class RandomBoundary {
    private static final int LENGTH = 64;

    /** The number of random bytes in a boundary. */
    private static final int SIZE = LENGTH / 4;

    private static final int COUNT = 64;
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Random bytes for several boundaries, because a call to the generator takes longer than writing a small form. */
    private static final class Batch {
        final byte[] bytes = new byte[COUNT * SIZE];
        final AtomicInteger used = new AtomicInteger();

        Batch() {
            RANDOM.nextBytes(bytes);
        }
    }

    private static volatile Batch batch = new Batch();

    private RandomBoundary() {}

    /** {@return a new boundary} */
    public static String next() {
        Batch current = batch;
        int index = current.used.getAndIncrement();
        if (index >= COUNT) {
            current = new Batch();
            index = current.used.getAndIncrement();
            batch = current; // may replace the new batch of another thread, whose other bytes then remain unused
        }
        byte[] letters = new byte[LENGTH];
        for (int i = 0; i < LENGTH; i++) {
            letters[i] = (byte) ('t' + (current.bytes[index * SIZE + i / 4] >> i % 4 * 2 & 3));
        }
        return new String(letters, StandardCharsets.US_ASCII);
    }
}
