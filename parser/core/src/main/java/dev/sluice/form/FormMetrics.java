package dev.sluice.form;

/**
 * A listener for the start, the received bytes and the end of every form. It is called concurrently, by the threads
 * that decode the forms. Implementations must be thread-safe and return quickly.
 *
 * <p>Exceptions thrown by a listener do not affect the form. They are passed to the {@linkplain
 * Thread#getUncaughtExceptionHandler() uncaught exception handler} of the thread.
 */
@FunctionalInterface
public interface FormMetrics {
    /**
     * Called when a form starts, or is rejected because of its request headers. Exactly one call to {@link #formEnded}
     * follows.
     */
    default void formStarted() {}

    /**
     * Called before received bytes of a body are decoded. Bytes that are discarded are not reported.
     *
     * @param bytes the number of bytes, 1 or more
     */
    default void bodyReceived(int bytes) {}

    /** Called when a form is complete, has failed, was aborted, or was rejected because of its request headers. */
    void formEnded(FormSummary summary);
}
