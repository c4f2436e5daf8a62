package dev.sluice.testkit;

import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;

/**
 * Skips tests that need a program that is not installed. The build ends with a line that counts the skipped tests
 * ({@code .ci/skipped}). If {@code SLUICE_REQUIRE_CLIENTS} is 1, these tests fail instead.
 */
public final class Installed {
    private static final boolean REQUIRED = "1".equals(System.getenv("SLUICE_REQUIRE_CLIENTS"));

    /** The beginning of each reason, before the name of the program. {@code .ci/skipped} searches for it. */
    private static final String NOT_INSTALLED = "Not installed: ";

    private Installed() {}

    /**
     * Requires {@code program}. If it is missing, the running test is skipped, or fails if all programs are required.
     */
    public static void require(String program, boolean present) {
        if (!present && REQUIRED) {
            Assertions.fail(NOT_INSTALLED + program);
        }
        Assumptions.assumeTrue(present, NOT_INSTALLED + program);
    }

    /** {@return a condition that disables tests if {@code program} is missing, unless all programs are required} */
    public static ConditionEvaluationResult condition(String program, boolean present) {
        return present || REQUIRED
                ? ConditionEvaluationResult.enabled("installed or required")
                : ConditionEvaluationResult.disabled(NOT_INSTALLED + program);
    }
}
