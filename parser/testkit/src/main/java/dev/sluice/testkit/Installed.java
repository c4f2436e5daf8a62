package dev.sluice.testkit;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;

/**
 * Skips the tests of a program that is not installed. The build ends with a line that counts them ({@code .ci/skipped}). If
 * {@code SLUICE_REQUIRE_CLIENTS} is 1, these tests fail instead.
 */
public final class Installed {
    private static final boolean REQUIRED = "1".equals(System.getenv("SLUICE_REQUIRE_CLIENTS"));

    /** Every reason begins with this, which {@code .ci/skipped} searches for. The name of the program follows. */
    private static final String NOT_INSTALLED = "Not installed: ";

    private Installed() {}

    /** Skips the running test, or fails it if all programs are required, unless {@code program} is present. */
    public static void require(String program, boolean present) {
        if (!present && REQUIRED) {
            Assertions.fail(NOT_INSTALLED + program);
        }
        Assumptions.assumeTrue(present, NOT_INSTALLED + program);
    }

    /** {@return whether tests run for which {@code program} is needed: if it is present, or if all programs are required} */
    public static ConditionEvaluationResult condition(String program, boolean present) {
        return present || REQUIRED
                ? ConditionEvaluationResult.enabled("installed or required")
                : ConditionEvaluationResult.disabled(NOT_INSTALLED + program);
    }
}
