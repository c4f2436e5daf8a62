package dev.sluice.form;

/**
 * A listener for the progress of one upload. It is called on the thread that decodes the form and must return quickly.
 * An exception fails the form.
 */
@FunctionalInterface
public interface ProgressListener {
    /**
     * Called when bytes have arrived, or when a part or the form is complete.
     *
     * <p>The end of each part and of the form is always reported. Other calls are skipped until the interval of {@link
     * FormOptions.Builder#progress} has passed since the last call.
     */
    void progressed(Progress progress);
}
