package dev.sluice.buffer;

/**
 * The set of all sequences of four bytes ("grams") in a delimiter, as a Bloom filter with one hash function and 4,096
 * bits.
 *
 * <p>A gram that is not in the set does not occur in the delimiter. A gram that is in the set occurs, or has the hash
 * of one that does. A delimiter of n grams covers n + 3 bytes, so a search that probes one gram every n bytes hits each
 * occurrence once.
 *
 * <p>The set also contains the two grams that start a lookalike (see {@link DelimiterSearch}): with LF, which is part
 * of the delimiter anyway, and with CR. The 512 bytes of the set fit into the first-level cache together with the
 * chunk.
 */
final class Grams {
    static final int LENGTH = 4;

    /** The number of bytes of a gram after its first. */
    static final int REACH = LENGTH - 1;

    private static final int SLOT_BITS = 12;
    private static final int GOLDEN = 0x9E3779B1;

    private Grams() {}

    /** {@return the index in the set of a gram, whose bytes are in little-endian order} */
    static int slot(int gram) {
        return gram * GOLDEN >>> Integer.SIZE - SLOT_BITS;
    }

    /** {@return the set for the text of a delimiter} */
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
