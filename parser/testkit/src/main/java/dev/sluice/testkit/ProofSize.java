package dev.sluice.testkit;

/** The size of a proof: short in each build, full with {@code -Pfull}, or the value of a system property. */
public final class ProofSize {
    private ProofSize() {}

    /** {@return the value of the property, or the default for this build} */
    public static int of(String property, int inShort, int inFull) {
        return Integer.getInteger(property, Boolean.getBoolean("sluice.full") ? inFull : inShort);
    }
}
