package dev.sluice.bench.peer.bytebuf;

import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.bench.body.Body;

/** What Sluice is run with: its defaults, with every check on, unless the body itself asks for leniency. */
public final class SluiceOptions {
    private static final int JUNK_LIMIT = 2 << 20;

    private SluiceOptions() {}

    public static MultipartOptions of(Body body) {
        if (!body.lenient()) {
            return MultipartOptions.defaults();
        }
        return MultipartOptions.builder()
                .preset(Preset.COMPATIBLE)
                .maxPreambleBytes(JUNK_LIMIT)
                .maxEpilogueBytes(JUNK_LIMIT)
                .build();
    }
}
