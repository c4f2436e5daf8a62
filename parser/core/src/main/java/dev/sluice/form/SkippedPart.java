package dev.sluice.form;

import dev.sluice.PartHead;

/**
 * A part that the application discarded with {@link PartDecision#skip(int, String)}. The rest of its form was accepted.
 *
 * @param head the headers of the part
 * @param httpStatus the HTTP status that the application chose for the part, 400 to 599
 * @param message the reason that the application gave
 */
public record SkippedPart(PartHead head, int httpStatus, String message) {}
