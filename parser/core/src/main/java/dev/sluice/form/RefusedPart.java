package dev.sluice.form;

import dev.sluice.PartHead;

/**
 * A part that the application refused while the rest of the form went on.
 *
 * @param head what was known of it
 * @param httpStatus the status to answer
 * @param message why, as the application said
 */
public record RefusedPart(PartHead head, int httpStatus, String message) {}
