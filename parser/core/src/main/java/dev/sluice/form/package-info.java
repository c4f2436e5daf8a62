/**
 * Whole forms: where the parts of an upload go, and who cleans up after them.
 *
 * <p>{@link dev.sluice.form.FormAssembler} is the push driver, {@link dev.sluice.form.MultipartForm#read} the blocking
 * one. For each part the application decides at the headers ({@link dev.sluice.form.PartDecision}): memory, memory and
 * then a file, a {@link dev.sluice.form.PartSink} of its own, nothing, or a refusal. Files live in a {@link
 * dev.sluice.form.SpoolDirectory}, memory is charged to a {@link dev.sluice.form.MemoryBudget}; both are made once per
 * process and shared.
 *
 * <p>Everything a form holds is given back on every path (end, error of the peer, of a sink or of the disk, abort)
 * without waiting for the garbage collector.
 */
@NullMarked
package dev.sluice.form;

import org.jspecify.annotations.NullMarked;
