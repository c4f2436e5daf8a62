package dev.sluice.form;

/**
 * How far an upload is.
 *
 * @param bodyBytes bytes of the body so far
 * @param expectedBytes bytes of the whole body as announced, or -1 if unknown; a promise of the client, not a bound
 * @param partIndex 0-based index of the part being read, or that ended last; -1 before the first
 * @param partBytes bytes of this part so far
 * @param partEnded whether this part is complete
 * @param ended whether the form is complete
 */
public record Progress(
        long bodyBytes, long expectedBytes, int partIndex, long partBytes, boolean partEnded, boolean ended) {}
