/**
 * Takes {@code multipart/*} bodies apart while they stream in (RFC 2046 section 5.1, RFC 7578).
 *
 * <p>{@link dev.sluice.MultipartDecoder} is the decoder: buffers in, events out, no I/O and no threads. {@link dev.sluice.PartHead} is
 * what it knows of a part.
 * {@link dev.sluice.MultipartReader} is the blocking reader on top of it. {@link dev.sluice.Boundary} comes from the
 * {@code Content-Type} of the request, {@link dev.sluice.MultipartOptions} says what is accepted and how much of it: by a
 * {@link dev.sluice.Preset}, which is a set of {@link dev.sluice.Deviation}s, and {@link dev.sluice.Setting}s, which {@link dev.sluice.BodySettings} collects.
 * What is tolerated is a {@link dev.sluice.ReportedDeviation}, what is refused a {@link dev.sluice.MultipartException}.
 *
 * <p>Words used throughout: an <em>offset</em> is a 0-based byte position from the start of the multipart body; an
 * <em>index</em> is a position in a buffer; a <em>size</em> is in bytes; a <em>count</em> counts things.
 */
@NullMarked
package dev.sluice;

import org.jspecify.annotations.NullMarked;
