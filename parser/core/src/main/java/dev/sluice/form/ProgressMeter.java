package dev.sluice.form;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Calls a listener, but not too often. */
final class ProgressMeter {
    private final @Nullable ProgressListener listener;
    private final long intervalNanos;
    private final LongSupplier clock;
    private long last;

    ProgressMeter(@Nullable ProgressListener listener, long intervalNanos, LongSupplier clock) {
        this.listener = listener;
        this.intervalNanos = intervalNanos;
        this.clock = clock;
        this.last = clock.getAsLong() - intervalNanos;
    }

    void report(long bodyBytes, long expectedBytes, int partIndex, long partBytes, boolean ended) {
        if (listener == null) {
            return;
        }
        long now = clock.getAsLong();
        if (ended || now - last >= intervalNanos) {
            last = now;
            listener.progressed(new Progress(bodyBytes, expectedBytes, partIndex, partBytes, ended));
        }
    }
}
