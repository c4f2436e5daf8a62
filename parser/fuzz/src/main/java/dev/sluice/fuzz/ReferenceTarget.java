package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Agreement with the reference parser: the same parts, data, deviations, error and offset. */
public final class ReferenceTarget {
    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();

    private ReferenceTarget() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) throws MultipartException {
        Setup setup = Setup.of(bytes);
        Outcome outcome = ReferenceParser.parse(
                setup.contentType(), setup.body(), setup.preset().toString(), setup.limits());
        Transcript expected = Transcript.of(outcome);
        Source source = setup.source();
        Boundary boundary = Boundary.anyMultipart(setup.contentType(), setup.preset()); // valid in every preset
        Transcript actual =
                Decoding.of(boundary, setup.options(ALLOCATOR), source, each -> each.feedRest(setup.cuts()));
        Transcript.requireSame(expected, actual, "differs from the reference parser", setup);
        source.requireNothingHeld(ALLOCATOR, setup);
    }
}
