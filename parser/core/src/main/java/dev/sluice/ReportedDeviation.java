package dev.sluice;

/**
 * A deviation that was accepted and that the {@link Preset} reports.
 *
 * @param kind the deviation
 * @param partIndex the 0-based index of the part; -1 outside of parts
 * @param offset the offset in the multipart body of the byte that deviates; -1 if it is in the {@code Content-Type}
 */
public record ReportedDeviation(Deviation kind, int partIndex, long offset) {}
