package dev.sluice.buffer;

/** Access to the tables that a delimiter creates on first use and keeps for all searches. */
public final class SharedTables {
    private SharedTables() {}

    /** {@return the table of a delimiter's grams, created on first use} */
    public static int[] grams(Delimiter delimiter) {
        return delimiter.grams().slots;
    }
}
