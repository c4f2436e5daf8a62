package dev.sluice;

import dev.sluice.testkit.ReferenceLimits;
import org.jspecify.annotations.NullMarked;

/** Access to package-private state for fuzz targets and tests of other packages. */
@NullMarked
public final class DecoderProbe {
    private DecoderProbe() {}

    /** {@return a hash of all state that can influence later results; the decoder must need input} */
    public static long stateHash(MultipartDecoder decoder) {
        return new StateHash().add(decoder).value();
    }

    /** {@return options with the limits of the reference parser} */
    public static MultipartOptions.Builder limits(ReferenceLimits limits) {
        return MultipartOptions.builder()
                .set(Setting.MAX_BODY_BYTES, text(limits.maxBodyBytes()))
                .set(Setting.MAX_PART_BYTES, text(limits.maxPartBytes()))
                .set(Setting.MAX_PARTS, text(limits.maxParts()))
                .set(Setting.MAX_FILES, text(limits.maxFiles()))
                .maxHeadersPerPart(limits.maxHeadersPerPart())
                .maxHeaderBytesPerPart(limits.maxHeaderBytesPerPart())
                .set(Setting.MAX_HEADER_BYTES, text(limits.maxHeaderBytes()))
                .maxPreambleBytes(limits.maxPreambleBytes())
                .maxEpilogueBytes(limits.maxEpilogueBytes());
    }

    private static String text(long limit) {
        return limit == Long.MAX_VALUE ? "unlimited" : String.valueOf(limit);
    }
}
