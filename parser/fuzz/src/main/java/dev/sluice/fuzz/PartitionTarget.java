package dev.sluice.fuzz;

import dev.sluice.DecoderProbe;
import dev.sluice.Decoding;
import dev.sluice.Decoding.Result;
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
        Result whole = Decoding.decode(setup.boundary(), options, source.chunks(0, source::size));
        twoStates(setup, options, source, random, whole);
        Result cut = Decoding.decode(setup.boundary(), options, source.chunks(0, Source.sizes(random)));
        Decoding.assertSame(whole, cut, "cut at random", setup);
        int chunk = 1 + random.nextInt(8);
        if (chunk > 1 || source.size() <= BYTE_BY_BYTE) {
            Result chunks = Decoding.decode(setup.boundary(), options, source.chunks(0, () -> chunk));
            Decoding.assertSame(whole, chunks, "in chunks of " + chunk, setup);
        }
        source.requireNothingHeld(ALLOCATOR, setup);
    }

    private static void twoStates(
            Setup setup, MultipartOptions options, Source source, SplittableRandom random, Result whole) {
        int end = random.nextInt(source.size() + 1);
        int cut = random.nextInt(end + 1);
        try (Decoding one = new Decoding(setup.boundary(), options);
                Decoding two = new Decoding(setup.boundary(), options)) {
            one.feed(source.slice(0, end));
            two.feed(source.slice(0, cut));
            two.feed(source.slice(cut, end));
            if (DecoderProbe.stateHash(one.decoder()) != DecoderProbe.stateHash(two.decoder())) {
                throw new AssertionError(
                        "the state after " + end + " bytes depends on the cut at " + cut + "\n" + setup);
            }
            one.feed(source.slice(end, source.size()));
            source.chunks(end, Source.sizes(random)).forEach(two::feed);
            Decoding.assertSame(whole, one.finish(), "cut at " + end, setup);
            Decoding.assertSame(whole, two.finish(), "cut at " + cut + ", " + end + " and at random", setup);
        }
    }
}
