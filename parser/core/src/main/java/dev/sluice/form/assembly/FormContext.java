package dev.sluice.form.assembly;

import dev.sluice.PartHead;
import dev.sluice.form.FormAdmission;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.ProgressListener;
import dev.sluice.form.flow.WaitingMemory;
import dev.sluice.form.storage.SegmentPool;
import dev.sluice.form.storage.Spool;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The options of a form, together with callbacks and resources for which the options have no accessor.
 *
 * @param decider the internal counterpart of the decider in the options; null to store all parts
 * @param progressNanos the minimum time between two calls to {@code progress}, in nanoseconds
 * @param clock a clock like {@link System#nanoTime()}
 */
public record FormContext(
        FormOptions options,
        PartDestination.@Nullable Decider<PartHead> decider,
        FormAdmission admission,
        @Nullable Spool spool,
        WaitingMemory waiting,
        SegmentPool segments,
        @Nullable ProgressListener progress,
        long progressNanos,
        @Nullable FormMetrics metrics,
        LongSupplier clock) {
    long now() {
        return clock.getAsLong();
    }
}
