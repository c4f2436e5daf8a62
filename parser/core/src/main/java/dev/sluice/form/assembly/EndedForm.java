package dev.sluice.form.assembly;

import dev.sluice.MultipartException;
import dev.sluice.ReportedDeviation;
import dev.sluice.form.FormSummary;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The summary of a form that has ended. */
public record EndedForm(
        Outcome outcome,
        MultipartException.@Nullable Reason reason,
        @Nullable Throwable failure,
        @Nullable String remoteAddress,
        long bodyBytes,
        int parts,
        int files,
        int spilledParts,
        long spilledBytes,
        long peakMemoryBytes,
        long deviations,
        List<ReportedDeviation> reported,
        long nanos)
        implements FormSummary {}
