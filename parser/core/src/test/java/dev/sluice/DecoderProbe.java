package dev.sluice;

import org.jspecify.annotations.NullMarked;

/** Shows the fuzz targets, and the tests of other packages, what the library keeps to itself. */
@NullMarked
public final class DecoderProbe {
    private DecoderProbe() {}

    /** {@return units of work so far: bytes looked at one by one, and probes of the search} */
    public static long steps(MultipartDecoder decoder) {
        return decoder.steps();
    }

    /** {@return a hash of everything that can influence what the decoder does next; for a decoder that needs input} */
    public static long stateHash(MultipartDecoder decoder) {
        return new StateHash().add(decoder).value();
    }
}
