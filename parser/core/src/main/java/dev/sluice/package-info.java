/**
 * A streaming decoder and encoder for {@code multipart} bodies (RFC 2046 section 5.1, RFC 7578).
 *
 * <ul>
 *   <li>{@link dev.sluice.MultipartDecoder} is the decoder. It reads buffers and returns events, without I/O or threads.
 *       {@link dev.sluice.PartHead} contains the headers of a part.
 *   <li>{@link dev.sluice.MultipartReader} is a blocking reader on top of the decoder.
 *   <li>{@link dev.sluice.MultipartEncoder} is the encoder. {@link dev.sluice.NameEscaping} selects how it treats unusual names.
 *   <li>{@link dev.sluice.MultipartBody} describes a body that can be sent. {@link dev.sluice.Content} is the content of its parts.
 *       {@link dev.sluice.BodyChunks} delivers the body in buffers.
 *   <li>{@link dev.sluice.FormRelay} decodes a form, changes its parts, and encodes it again.
 *   <li>{@link dev.sluice.Boundary} is parsed from the {@code Content-Type} of the request.
 *   <li>{@link dev.sluice.MultipartOptions} holds the options. A {@link dev.sluice.Preset} decides for each {@link dev.sluice.Deviation}
 *       whether it is accepted. {@link dev.sluice.Setting} lists all settings.
 *   <li>A {@link dev.sluice.ReportedDeviation} is a deviation that was accepted. A {@link dev.sluice.MultipartException} reports a body
 *       that was rejected.
 * </ul>
 *
 * <p>Terms: an <em>offset</em> is a 0-based byte position in the multipart body, an <em>index</em> is a position in a buffer, a
 * <em>size</em> is in bytes, and a <em>count</em> is a number of items.
 */
@NullMarked
package dev.sluice;

import org.jspecify.annotations.NullMarked;
