package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.Decoding;
import dev.sluice.Decoding.Result;
import dev.sluice.Deviation;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.SplittableRandom;

/** A round trip: the preset STRICT decodes a form that conforms to the RFCs to the same form, without reported deviations. */
public final class RoundTripTarget {
    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();
    /** The preset STRICT, with deviations that the RFCs allow but some readers misread. */
    private static final MultipartOptions STRICT = options(Preset.STRICT.accepting(
            Deviation.BACKSLASH,
            Deviation.ESCAPED_BACKSLASH,
            Deviation.TRANSPORT_PADDING,
            Deviation.LOOKALIKE_DELIMITER));

    private static final MultipartOptions COMPATIBLE = options(Preset.COMPATIBLE);

    private RoundTripTarget() {}

    private static MultipartOptions options(Preset preset) {
        return MultipartOptions.builder()
                .preset(preset)
                .decodeEncodedWords(false)
                .allocator(ALLOCATOR)
                .build();
    }

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) throws MultipartException {
        Input in = new Input(bytes);
        int flags = in.next();
        SplittableRandom cuts = new SplittableRandom(in.next());
        EncodedForm form = EncodedForm.of(in);
        Source source = Source.of(form.body(), (flags & 1) != 0);
        Boundary boundary = form.boundary();
        Result whole = Decoding.decode(boundary, STRICT, source.chunks(0, source::size));
        Decoding.assertSame(form.meaning(), whole, "whole", form);
        Result cut = Decoding.decode(boundary, STRICT, source.chunks(0, Source.sizes(cuts)));
        Decoding.assertSame(form.meaning(), cut, "cut at random", form);
        Result compatible = Decoding.decode(boundary, COMPATIBLE, source.chunks(0, Source.sizes(cuts)));
        // COMPATIBLE also reports forms with two file names.
        if (form.isSameWithBareLf()
                && (compatible.failure() != null
                        || !compatible.parts().equals(form.meaning().parts()))) {
            throw new AssertionError(
                    "COMPATIBLE\n" + form + "\nexpected " + form.meaning() + "\nbut was  " + compatible);
        }
        source.requireNothingHeld(ALLOCATOR, form);
    }
}
