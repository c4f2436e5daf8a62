package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;
import io.netty.buffer.UnpooledByteBufAllocator;

/** A body means what it means to the reference parser: parts, data, deviations, the error and where it is. */
public final class ReferenceTarget {
    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();

    private ReferenceTarget() {}

    /** For the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) throws MultipartException {
        Setup setup = Setup.of(bytes);
        Outcome outcome = ReferenceParser.parse(
                setup.contentType(), setup.body(), setup.preset().toString(), setup.limits());
        Transcript expected = Transcript.of(outcome);
        Source source = setup.source();
        Boundary boundary = Boundary.from(setup.contentType(), setup.preset()); // sound, in every preset
        Transcript actual =
                Decoding.of(boundary, setup.options(ALLOCATOR), source, each -> each.feedRest(setup.cuts()));
        Transcript.requireSame(expected, actual, "other than the reference parser", setup);
        source.requireNothingHeld(ALLOCATOR, setup);
    }
}
