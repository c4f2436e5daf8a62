package dev.sluice.form;

/** Is told how far an upload is: on the thread that drives the form, so be quick. What it throws ends the form. */
@FunctionalInterface
public interface ProgressListener {
    /**
     * Some bytes have come, or a part or the form is complete.
     *
     * <p>Called at the end of each part and of the form, always; in between no more often than {@link
     * FormOptions.Builder#progress} says, counted from the call before, whatever that one was for.
     */
    void progressed(Progress progress);
}
