/**
 * An upload server with a web page: an example of the library in a complete program.
 *
 * <p>{@link dev.sluice.samples.upload.UploadServer} is the server. {@link dev.sluice.netty.MultipartHandlers} receives
 * the forms, {@code FormRequest} responds to them, and {@code ReceivedParts} chooses the destination of each part.
 */
@NullMarked
package dev.sluice.samples.upload;

import org.jspecify.annotations.NullMarked;
