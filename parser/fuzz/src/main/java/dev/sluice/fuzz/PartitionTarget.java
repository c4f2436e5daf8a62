package dev.sluice.fuzz;

import dev.sluice.MultipartOptions;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.SplittableRandom;

/**
 * Independence of the splits: a body has the same parts, data, deviations, error and offset for every split into
 * chunks. The state of the decoder after two chunks equals its state after the same bytes in one chunk.
 */
public final class PartitionTarget {
    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();
    private static final int BYTE_BY_BYTE = 400;

    private PartitionTarget() {}

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Setup setup = Setup.of(bytes);
        Source source = setup.source();
        MultipartOptions options = setup.options(ALLOCATOR);
        SplittableRandom random = setup.cuts();
        Transcript whole = Decoding.of(setup.boundary(), options, source, Decoding::feedWhole);
        twoStates(setup, options, source, random, whole);
        Transcript cut = Decoding.of(setup.boundary(), options, source, each -> each.feedRest(random));
        Transcript.requireSame(whole, cut, "cut at random", setup);
        int chunk = 1 + random.nextInt(8);
        if (chunk > 1 || source.size() <= BYTE_BY_BYTE) {
            Transcript chunks = Decoding.of(setup.boundary(), options, source, each -> each.feedRest(chunk));
            Transcript.requireSame(whole, chunks, "in chunks of " + chunk, setup);
        }
        source.requireNothingHeld(ALLOCATOR, setup);
    }

    private static void twoStates(
            Setup setup, MultipartOptions options, Source source, SplittableRandom random, Transcript whole) {
        int end = random.nextInt(source.size() + 1);
        int cut = random.nextInt(end + 1);
        try (Decoding one = new Decoding(setup.boundary(), options, source);
                Decoding two = new Decoding(setup.boundary(), options, source)) {
            one.feedTo(end);
            two.feedTo(cut);
            two.feedTo(end);
            if (one.stateHash() != two.stateHash()) {
                throw new AssertionError(
                        "the state after " + end + " bytes depends on the cut at " + cut + "\n" + setup);
            }
            one.feedTo(source.size());
            two.feedRest(random);
            Transcript.requireSame(whole, one.finish(), "cut at " + end, setup);
            Transcript.requireSame(whole, two.finish(), "cut at " + cut + ", " + end + " and at random", setup);
        }
    }
}
