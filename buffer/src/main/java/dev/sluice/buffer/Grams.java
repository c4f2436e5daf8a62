package dev.sluice.buffer;

/**
 * The set of all sequences of four bytes in a delimiter, and of those that begin a lookalike behind a CR, as a hashed set
 * of 4096 bits (512 bytes): says "not in it" for certain, "in it" now and then by chance.
 */
final class Grams {
    static final int LENGTH = 4;

    /** Bytes of a gram behind its first. */
    static final int REACH = LENGTH - 1;

    private static final int SLOT_BITS = 12;
    private static final int GOLDEN = 0x9E3779B1;

    private Grams() {}

    /** {@return the place of a gram, bytes in little-endian order, in the set} */
    static int slot(int gram) {
        return gram * GOLDEN >>> Integer.SIZE - SLOT_BITS;
    }

    static long[] of(byte[] text) {
        long[] set = new long[(1 << SLOT_BITS) / Long.SIZE];
        int gram = text[2] << 24 | (text[1] & 0xff) << 16 | (text[0] & 0xff) << 8;
        for (int i = REACH; i < text.length; i++) {
            gram = gram >>> 8 | text[i] << 24;
            add(set, gram);
        }
        add(set, text[4] << 24 | (text[3] & 0xff) << 16 | (text[2] & 0xff) << 8 | text[0] & 0xff);
        return set;
    }

    private static void add(long[] set, int gram) {
        int slot = slot(gram);
        set[slot >>> 6] |= 1L << slot;
    }
}
