package dev.sluice.fuzz;

import dev.sluice.ReferenceResult;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;

/** Agreement with the reference parser: the same parts, data, deviations, error and offset. */
public final class ReferenceTarget {
    private ReferenceTarget() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Setup setup = Setup.of(bytes);
        Outcome outcome = ReferenceParser.parse(
                setup.contentType(), setup.body(), setup.preset().toString(), setup.limits());
        Source source = setup.source();
        ReferenceResult.assertSame(
                outcome,
                setup.contentType(),
                setup.body(),
                setup.limits(),
                setup.preset(),
                source.chunks(0, Source.sizes(setup.cuts())),
                setup);
        if (source.held() != 0) {
            throw new AssertionError("leaked: " + source.held() + " slices\n" + setup);
        }
    }
}
