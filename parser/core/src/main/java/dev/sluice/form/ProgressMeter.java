package dev.sluice.form;

import dev.sluice.MultipartDecoder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Calls a listener, but not too often. */
final class ProgressMeter {
    private final @Nullable ProgressListener listener;
    private final long intervalNanos;
    private final LongSupplier clock;
    private long last;
    private int endedPart = -1;

    ProgressMeter(@Nullable ProgressListener listener, long intervalNanos, LongSupplier clock) {
        this.listener = listener;
        this.intervalNanos = intervalNanos;
        this.clock = clock;
        this.last = clock.getAsLong() - intervalNanos;
    }

    void advanced(MultipartDecoder decoder, long expectedBytes) {
        if (listener != null && clock.getAsLong() - last >= intervalNanos) {
            tell(decoder, expectedBytes, false);
        }
    }

    void partEnded(MultipartDecoder decoder, long expectedBytes) {
        endedPart = decoder.partIndex();
        tell(decoder, expectedBytes, false);
    }

    void formEnded(MultipartDecoder decoder, long expectedBytes) {
        tell(decoder, expectedBytes, true);
    }

    private void tell(MultipartDecoder decoder, long expectedBytes, boolean ended) {
        if (listener == null) {
            return;
        }
        last = clock.getAsLong();
        int part = decoder.partIndex();
        boolean partEnded = part >= 0 && part == endedPart;
        listener.progressed(new Progress(decoder.offset(), expectedBytes, part, decoder.partSize(), partEnded, ended));
    }
}
