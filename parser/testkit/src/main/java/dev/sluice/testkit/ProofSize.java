package dev.sluice.testkit;

/** How large a proof is: short in each build, at its full size with {@code -Pfull}, or as its property says. */
public final class ProofSize {
    private ProofSize() {}

    /** {@return the value of the property, or the one for this build} */
    public static int of(String property, int inShort, int inFull) {
        return Integer.getInteger(property, Boolean.getBoolean("sluice.full") ? inFull : inShort);
    }
}
