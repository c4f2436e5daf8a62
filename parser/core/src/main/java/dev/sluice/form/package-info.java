/**
 * Complete forms: receiving them, storing their parts, and cleaning up.
 *
 * <p><b>Receiving forms.</b> {@link dev.sluice.form.Forms}, created once per process with {@link
 * dev.sluice.form.FormOptions}, returns a {@link dev.sluice.form.MultipartForm} with its {@link
 * dev.sluice.form.FormPart}s. A {@link dev.sluice.form.PartContent} is content that outlives its form. A {@link
 * dev.sluice.form.FormBodyHandler} receives forms that a server sends.
 *
 * <p><b>Choosing destinations.</b> A {@link dev.sluice.form.PartDecider} returns a {@link dev.sluice.form.PartDecision}
 * for each part. The content of a part can go to a {@link dev.sluice.form.PartSink}, which reports its {@link
 * dev.sluice.form.Readiness}. A {@link dev.sluice.form.PartPipe} is a sink that another thread reads. A {@link
 * dev.sluice.form.SkippedPart} is a part that the application discarded. An {@link dev.sluice.form.OutgoingForm} is sent to
 * another server while it arrives.
 *
 * <p><b>Sharing resources.</b> All forms of a process share a {@link dev.sluice.form.SpoolDirectory} and a {@link
 * dev.sluice.form.MemoryBudget}. A {@link dev.sluice.form.FormAdmission} decides when a form may begin.
 *
 * <p><b>Monitoring.</b> {@link dev.sluice.form.FormMetrics} receives a {@link dev.sluice.form.FormSummary} of each
 * form. A {@link dev.sluice.form.ProgressListener} receives the {@link dev.sluice.form.Progress} of one form. {@link
 * dev.sluice.form.StoreMetrics} receives events of sinks that write to a network store.
 *
 * <p><b>Writing an adapter</b> (experimental). A {@link dev.sluice.form.FormSource} delivers the bytes of a body to a
 * {@link dev.sluice.form.FormIntake}. A {@link dev.sluice.form.FormSubscriber} combines the two, for servers that pass the body to a
 * {@link java.util.concurrent.Flow.Subscriber} or to callbacks. {@link dev.sluice.form.FormHead} describes the request.
 * {@link dev.sluice.form.ClientPace} detects slow clients.
 *
 * <p>However a form ends, it releases its memory, files and sinks without waiting for the garbage collector. No part of a failed form
 * becomes visible, except bytes that a sink has already written to a stream or channel of the application.
 */
@NullMarked
package dev.sluice.form;

import org.jspecify.annotations.NullMarked;
