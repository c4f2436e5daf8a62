package dev.sluice.fuzz;

import java.util.Arrays;

/** All targets in one. */
public final class EveryTarget {
    private EveryTarget() {}

    /** For the fuzzer. */
    public static void fuzzerTestOneInput(byte[] octets) throws Exception {
        if (octets.length > 0) {
            int target = (octets[0] & 0xFF) % Target.single().size();
            Target.single().get(target).run(Arrays.copyOfRange(octets, 1, octets.length));
        }
    }
}
