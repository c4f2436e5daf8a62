package dev.sluice.form;

/**
 * A listener for the start, the received bytes and the end of every form. It is called on the threads that drive the forms, several
 * at a time, so implementations must be thread-safe and quick.
 *
 * <p>Exceptions do not affect the form. They are passed to the {@linkplain Thread#getUncaughtExceptionHandler() uncaught exception
 * handler} of the thread.
 */
@FunctionalInterface
public interface FormMetrics {
    /**
     * Called when a form starts or is rejected by the head of its request. Exactly one call of {@link #formEnded} follows.
     */
    default void formStarted() {}

    /**
     * Called when bytes of a body have arrived, before they are decoded.
     *
     * @param bytes the number of these bytes, 0 or more
     */
    default void bodyReceived(int bytes) {}

    /** Called when a form ends: completed, failed, aborted, or rejected by the head of its request. */
    void formEnded(FormSummary summary);
}
