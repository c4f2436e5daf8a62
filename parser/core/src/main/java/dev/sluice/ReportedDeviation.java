package dev.sluice;

/**
 * A deviation that was met and accepted, and that the {@link Preset} wants reported.
 *
 * @param kind what was met
 * @param partIndex 0-based index of the part, or -1 outside of any part
 * @param offset offset of the byte where it was met, from the start of the multipart body, or -1 where it is in the
 *     {@code Content-Type}
 */
public record ReportedDeviation(Deviation kind, int partIndex, long offset) {}
