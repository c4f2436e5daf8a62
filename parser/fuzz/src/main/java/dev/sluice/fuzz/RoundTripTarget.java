package dev.sluice.fuzz;

import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.SplittableRandom;

/** Whatever form is written by the rules, reading it gives that form again, in the strictest preset, and nothing is reported. */
public final class RoundTripTarget {
    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();
    private static final MultipartOptions STRICT = options(Preset.STRICT);
    private static final MultipartOptions COMPATIBLE = options(Preset.COMPATIBLE);

    private RoundTripTarget() {}

    private static MultipartOptions options(Preset preset) {
        return MultipartOptions.builder().preset(preset).allocator(ALLOCATOR).build();
    }

    /** For the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) throws MultipartException {
        Input in = new Input(bytes);
        int flags = in.next();
        SplittableRandom cuts = new SplittableRandom(in.next());
        EncodedForm form = EncodedForm.of(in);
        Transcript strict = new Transcript().append(form.meaning()).deviations(0);
        Source source = Source.of(form.body(), (flags & 1) != 0);
        try (Decoding decoding = new Decoding(form.boundary(), STRICT, source)) {
            decoding.feedTo(source.size());
            Transcript.requireSame(strict, decoding.finish(), "whole", form);
        }
        try (Decoding decoding = new Decoding(form.boundary(), STRICT, source)) {
            decoding.feedRest(cuts);
            Transcript.requireSame(strict, decoding.finish(), "cut at random", form);
        }
        try (Decoding decoding = new Decoding(form.boundary(), COMPATIBLE, source)) {
            decoding.feedRest(cuts);
            Transcript compatible = decoding.finish(); // two file names are reported there
            if (form.isSameWithBareLf() && !compatible.startsWith(form.meaning())) {
                throw new AssertionError(
                        "COMPATIBLE\n" + form + "\nexpected " + form.meaning() + "\nbut was  " + compatible);
            }
        }
        if (source.held() != 0 || ALLOCATOR.metric().usedHeapMemory() != 0) {
            throw new AssertionError("left behind: " + source.held() + " slices\n" + form);
        }
    }
}
