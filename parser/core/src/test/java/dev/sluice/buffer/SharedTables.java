package dev.sluice.buffer;

/** The tables that a delimiter makes when a search first asks for them, and keeps for all others. */
public final class SharedTables {
    private SharedTables() {}

    /** {@return the grams of a delimiter, made now if they have not been} */
    public static long[] grams(Delimiter delimiter) {
        return delimiter.grams();
    }
}
