package dev.sluice.testkit;

/** The number of cases in a long test: small by default, full with {@code -Pfull}, or set by a system property. */
public final class ProofSize {
    private ProofSize() {}

    /** {@return the value of the property, or the default for this build} */
    public static int of(String property, int inShort, int inFull) {
        return Integer.getInteger(property, Boolean.getBoolean("sluice.full") ? inFull : inShort);
    }
}
