package dev.sluice.form;

/**
 * The progress of an upload.
 *
 * @param bodyBytes the number of body bytes decoded so far
 * @param expectedBytes the size of the whole body as announced by the client, in bytes; -1 if it is unknown. The body
 *     may turn out to be shorter or longer
 * @param partIndex the 0-based index of the current part, or of the last one if no part is being read; -1 before the
 *     first
 * @param partBytes the number of bytes of this part decoded so far
 * @param partEnded whether this part is complete
 * @param ended whether the form is complete
 */
public record Progress(
        long bodyBytes, long expectedBytes, int partIndex, long partBytes, boolean partEnded, boolean ended) {}
