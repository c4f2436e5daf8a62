package dev.sluice.form;

/** Is told how far an upload is: on the thread that drives the form, so be quick. What it throws ends the form. */
@FunctionalInterface
public interface ProgressListener {
    /**
     * Some octets have come; called no more often than {@link FormOptions.Builder#progress} says, and always at the
     * end.
     */
    void progressed(Progress progress);
}
