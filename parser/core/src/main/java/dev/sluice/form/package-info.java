/**
 * Complete forms: receiving them, storing their parts, and cleaning up.
 *
 * <p><b>Receiving forms.</b> {@link dev.sluice.form.Forms}, created once per process with {@link dev.sluice.form.FormOptions},
 * returns a {@link dev.sluice.form.MultipartForm} with its {@link dev.sluice.form.FormPart}s. A {@link
 * dev.sluice.form.PartContent} is content that outlives its form.
 *
 * <p><b>Choosing destinations.</b> A {@link dev.sluice.form.PartDecider} returns a {@link dev.sluice.form.PartDecision} for each
 * part. The content of a part can go to a {@link dev.sluice.form.PartSink}, which reports its {@link
 * dev.sluice.form.Readiness}, for instance to a {@link dev.sluice.form.PartPipe}, which another thread reads. A {@link
 * dev.sluice.form.SkippedPart} is a part that the application discarded.
 *
 * <p><b>Sharing resources.</b> All forms of a process share a {@link dev.sluice.form.SpoolDirectory} and a {@link
 * dev.sluice.form.MemoryBudget}. A {@link dev.sluice.form.FormAdmission} chooses when a form may begin.
 *
 * <p><b>Monitoring.</b> {@link dev.sluice.form.FormMetrics} receives a {@link dev.sluice.form.FormSummary} of each form, a {@link
 * dev.sluice.form.ProgressListener} the {@link dev.sluice.form.Progress} of one form. {@link dev.sluice.form.StoreMetrics} is for
 * sinks that write to a store on the network.
 *
 * <p><b>Writing an adapter</b> (experimental). A {@link dev.sluice.form.FormSource} delivers the bytes of a body to a {@link
 * dev.sluice.form.FormIntake}. {@link dev.sluice.form.FormHead} describes the request. {@link dev.sluice.form.ClientPace} detects
 * slow clients.
 *
 * <p>A form releases its memory, files and sinks however it ends, without waiting for the garbage collector. Nothing of a failed
 * form is ever visible.
 */
@NullMarked
package dev.sluice.form;

import org.jspecify.annotations.NullMarked;
