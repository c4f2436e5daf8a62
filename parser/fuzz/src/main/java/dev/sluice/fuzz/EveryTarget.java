package dev.sluice.fuzz;

import java.util.Arrays;

/** A target that runs another target, chosen by the first byte. */
public final class EveryTarget {
    private EveryTarget() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) throws Exception {
        if (bytes.length > 0) {
            int target = (bytes[0] & 0xFF) % Target.single().size();
            Target.single().get(target).run(Arrays.copyOfRange(bytes, 1, bytes.length));
        }
    }
}
