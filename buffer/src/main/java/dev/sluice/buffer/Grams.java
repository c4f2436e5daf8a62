package dev.sluice.buffer;

import org.jspecify.annotations.Nullable;

/**
 * The set of all sequences of four bytes ("grams") in a delimiter, as a hash table without collisions. One comparison shows whether a gram
 * is in the set. Four random bytes hardly ever are.
 *
 * <p>In a delimiter of n grams, one gram starts at each of n successive positions, so a search that probes every n-th position finds each
 * occurrence.
 *
 * <p>The first gram of a lookalike (see {@link DelimiterSearch}) begins with LF or CR. The gram with LF is in the delimiter anyway. The
 * gram with CR is added to the set, so that lookalikes are found too. The table takes 4 KiB, so it fits into the first-level cache together
 * with the chunk.
 */
final class Grams {
    static final int LENGTH = 4;

    /** The stride of a faster loop: a constant, so that the JIT removes the bounds checks. */
    static final int FIXED_STRIDE = 32;

    /** The number of bytes in a gram after the first one. */
    static final int REACH = LENGTH - 1;

    private static final int SLOT_BITS = 10;

    private static final int SHIFT = Integer.SIZE - SLOT_BITS;

    /** An odd number. Its powers, which are odd as well, are the multipliers that are tried. */
    private static final int GOLDEN = 0x9E3779B1;

    /** The number of multipliers to try. On average, a browser's boundary needs two and a random boundary of 70 characters needs 13. */
    private static final int MAX_TRIES = 256;

    /** Stands for the set of a delimiter in which some grams collide, whatever multiplier is used. It must not be searched. */
    static final Grams NONE = new Grams(new int[0], 0);

    /** The grams by their hash. A slot without a gram contains a value whose hash is another slot. */
    final int[] slots;

    private final int multiplier;

    private Grams(int[] slots, int multiplier) {
        this.slots = slots;
        this.multiplier = multiplier;
    }

    /** {@return whether a gram, whose bytes are in little-endian order, is in this set} Must not be called on {@link #NONE}. */
    boolean contains(int gram) {
        int slot = gram * multiplier >>> SHIFT & slots.length - 1; // the JIT omits the check of a masked index
        return slots[slot] == gram;
    }

    /** {@return the set for the text of a delimiter} */
    static Grams of(byte[] text) {
        return of(text, MAX_TRIES);
    }

    static Grams of(byte[] text, int tries) {
        int[] grams = new int[text.length - REACH + 1];
        for (int i = 0; i < grams.length - 1; i++) {
            grams[i] = gram(text[i], text, i + 1);
        }
        grams[grams.length - 1] = gram(text[0], text, 2);
        int multiplier = GOLDEN;
        for (int i = 0; i < tries; i++) {
            int[] slots = table(grams, multiplier);
            if (slots != null) {
                return new Grams(slots, multiplier);
            }
            multiplier *= GOLDEN;
        }
        return NONE;
    }

    private static int gram(byte first, byte[] text, int rest) {
        return first & 0xff | (text[rest] & 0xff) << 8 | (text[rest + 1] & 0xff) << 16 | text[rest + 2] << 24;
    }

    /** {@return the slots, or null if two grams have the same hash} */
    private static int @Nullable [] table(int[] grams, int multiplier) {
        int[] slots = new int[1 << SLOT_BITS];
        // An empty slot contains 0, and the hash of the gram 0 is slot 0, so an empty slot 0 would match it. This slot
        // contains 1 instead: no multiplier that is tried hashes the gram 1 to slot 0.
        slots[0] = 1;
        for (int gram : grams) {
            int slot = gram * multiplier >>> SHIFT;
            boolean free = slots[slot] == (slot == 0 ? 1 : 0);
            if (!free && slots[slot] != gram) {
                return null;
            }
            slots[slot] = gram;
        }
        return slots;
    }
}
