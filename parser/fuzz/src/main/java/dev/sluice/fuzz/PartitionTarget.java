package dev.sluice.fuzz;

import dev.sluice.MultipartOptions;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.SplittableRandom;

/**
 * However a body is cut, it means the same: parts, data, deviations, the error and where it is. The state after two chunks is that
 * after both in one.
 */
public final class PartitionTarget {
    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();
    private static final int BYTE_BY_BYTE = 400;

    private PartitionTarget() {}

    /** For the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Setup setup = Setup.of(bytes);
        Source source = setup.source();
        MultipartOptions options = setup.options(ALLOCATOR);
        SplittableRandom random = setup.cuts();
        int size = source.size();

        Transcript whole;
        try (Decoding decoding = new Decoding(setup.boundary(), options, source)) {
            decoding.feedTo(size);
            whole = decoding.finish();
        }
        twoStates(setup, options, source, random, whole);
        try (Decoding decoding = new Decoding(setup.boundary(), options, source)) {
            decoding.feedRest(random);
            Transcript.requireSame(whole, decoding.finish(), "cut at random", setup);
        }
        int chunk = 1 + random.nextInt(8);
        if (chunk > 1 || size <= BYTE_BY_BYTE) {
            try (Decoding decoding = new Decoding(setup.boundary(), options, source)) {
                decoding.feedRest(chunk);
                Transcript.requireSame(whole, decoding.finish(), "in chunks of " + chunk, setup);
            }
        }
        if (source.held() != 0 || ALLOCATOR.metric().usedHeapMemory() != 0) {
            throw new AssertionError("left behind: " + source.held() + " slices, "
                    + ALLOCATOR.metric().usedHeapMemory() + " bytes\n" + setup);
        }
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
