/**
 * An upload server with a page: what the library looks like in a program.
 *
 * <p>{@link dev.sluice.samples.upload.UploadServer} is the server, {@code FormRequest} answers its forms, which a
 * {@link dev.sluice.netty.MultipartHandlers handler} takes, and {@code ReceivedParts} says where the parts go and what is answered.
 */
@NullMarked
package dev.sluice.samples.upload;

import org.jspecify.annotations.NullMarked;
