/**
 * An upload server with a page, and an inspector of multipart bodies: what the decoder looks like in a program.
 *
 * <p>{@link dev.sluice.samples.upload.UploadServer} is the server, {@code ConnectionHandler} speaks HTTP,
 * {@code BodyIntake} runs the decoder on the event loop and hands its events to a {@code PartSink} on a worker thread.
 * {@code StoredUpload} keeps files, {@code Inspection} only describes what it saw.
 */
@NullMarked
package dev.sluice.samples.upload;

import org.jspecify.annotations.NullMarked;
