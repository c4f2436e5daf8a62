/**
 * Whole forms: where the parts of an upload go, and who cleans up after them.
 *
 * <p>To take forms: {@link dev.sluice.form.Forms}, one for the process, gives a {@link dev.sluice.form.MultipartForm} with
 * its {@link dev.sluice.form.FormPart}s, by {@link dev.sluice.form.FormOptions}. To send parts elsewhere: a {@link
 * dev.sluice.form.PartDecider} answers a {@link dev.sluice.form.PartDecision} for each, to a {@link
 * dev.sluice.form.PartSink}, which tells its {@link dev.sluice.form.Readiness}; a {@link dev.sluice.form.PartPipe} is one
 * to read from. To write an adapter: a {@link dev.sluice.form.FormSource} drives a {@link dev.sluice.form.FormIntake};
 * these two are experimental.
 * {@link dev.sluice.form.FormHead} is what it is told of a request, {@link dev.sluice.form.ClientPace} ends slow clients,
 * {@link dev.sluice.form.FormAdmission} says when a form may begin. What a part leaves: {@link dev.sluice.form.PartContent}, or a
 * {@link dev.sluice.form.SkippedPart}. What forms share: a {@link dev.sluice.form.SpoolDirectory} and a {@link
 * dev.sluice.form.MemoryBudget}. To watch:
 * {@link dev.sluice.form.FormMetrics}, which gets a {@link dev.sluice.form.FormSummary} of each form, and {@link
 * dev.sluice.form.ProgressListener}, which gets {@link dev.sluice.form.Progress}. {@link dev.sluice.form.StoreMetrics} is for
 * sinks into a store on the network.
 *
 * <p>Everything a form holds is given back on every path (end, error of the client, of a sink or of the disk, abort)
 * without waiting for the garbage collector, and nothing of a form that failed is ever visible.
 */
@NullMarked
package dev.sluice.form;

import org.jspecify.annotations.NullMarked;
