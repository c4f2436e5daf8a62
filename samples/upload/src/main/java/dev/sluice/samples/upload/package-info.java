/**
 * An upload server with a page, and an inspector of multipart bodies: what the library looks like in a program.
 *
 * <p>{@link dev.sluice.samples.upload.UploadServer} is the server, {@code ConnectionHandler} speaks HTTP and gives what
 * comes to a {@link dev.sluice.form.FormIntake}, {@code ReceivedParts} says where the parts go and what is answered.
 */
@NullMarked
package dev.sluice.samples.upload;

import org.jspecify.annotations.NullMarked;
