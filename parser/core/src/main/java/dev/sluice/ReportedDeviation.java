package dev.sluice;

/**
 * A deviation that was accepted and that the {@link Preset} reports.
 *
 * @param kind the deviation
 * @param partIndex the 0-based index of the part; -1 outside of parts
 * @param offset the offset at which the deviation was noticed in the multipart body, usually at the
 *     offending byte; -1 if the deviation is in the {@code Content-Type}
 */
public record ReportedDeviation(Deviation kind, int partIndex, long offset) {}
