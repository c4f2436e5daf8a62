package dev.sluice.form.assembly;

import dev.sluice.ReportedDeviation;
import dev.sluice.form.SkippedPart;
import dev.sluice.form.storage.FormMemory;
import dev.sluice.form.storage.StoredContent;
import java.util.List;

/** The content of a complete form. The lists belong to the receiver. */
public record AssembledForm(
        List<StoredContent> parts,
        TextRules rules,
        List<SkippedPart> skipped,
        List<ReportedDeviation> deviations,
        long bodyBytes,
        FormMemory memory) {}
