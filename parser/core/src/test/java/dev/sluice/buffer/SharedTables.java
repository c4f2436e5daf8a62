package dev.sluice.buffer;

/** Access to the tables that a delimiter creates on first use and keeps for all searches. */
public final class SharedTables {
    private SharedTables() {}

    /** {@return the grams of a delimiter, created on first use} */
    public static long[] grams(Delimiter delimiter) {
        return delimiter.grams();
    }
}
