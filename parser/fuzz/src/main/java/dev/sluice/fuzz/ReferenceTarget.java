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
    public static void fuzzerTestOneInput(byte[] bytes) {
        Setup setup = Setup.of(bytes);
        Outcome outcome = ReferenceParser.parse(
                setup.contentType(), setup.body(), setup.preset().toString(), setup.limits());
        Transcript expected = Transcript.of(outcome);
        Source source = setup.source();
        Boundary boundary;
        try {
            boundary = Boundary.from(setup.contentType(), setup.preset());
        } catch (MultipartException e) {
            throw new AssertionError("the boundary is sound", e);
        }
        try (Decoding decoding = new Decoding(boundary, setup.options(ALLOCATOR), source)) {
            decoding.feedRest(setup.cuts());
            Transcript.requireSame(expected, decoding.finish(), "other than the reference parser", setup);
        }
        if (source.held() != 0 || ALLOCATOR.metric().usedHeapMemory() != 0) {
            throw new AssertionError("left behind: " + source.held() + " slices, "
                    + ALLOCATOR.metric().usedHeapMemory() + " bytes\n" + setup);
        }
    }
}
