package dev.sluice.encode;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Generator of boundaries that cannot be predicted. */
public final class RandomBoundary {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** 192 bits: content that was written before the boundary was chosen does not contain it. */
    private static final int SIZE = 24;

    private RandomBoundary() {}

    /** {@return 48 hexadecimal digits} */
    public static String next() {
        byte[] bytes = new byte[SIZE];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
