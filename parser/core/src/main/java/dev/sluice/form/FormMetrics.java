package dev.sluice.form;

/**
 * Is told what becomes of forms: how many there are, what they receive while they stream, and once for each how it
 * ended. Called on the threads that drive the forms, several at a time, so be thread-safe and quick.
 *
 * <p>What it throws changes nothing for the form: a complete one is handed out, a failed one fails for its own reason.
 * The throwable goes to the {@linkplain Thread#getUncaughtExceptionHandler() uncaught exception handler} of the thread.
 */
@FunctionalInterface
public interface FormMetrics {
    /**
     * A form has started, or was rejected by the head of its request. Exactly one call of {@link #formEnded} follows.
     */
    default void formStarted() {}

    /**
     * Some of the body of a form has arrived, and is about to be decoded.
     *
     * @param bytes how many more, 0 or more
     */
    default void bodyReceived(int bytes) {}

    /** A form has ended, well or not; a form that was rejected by the head of its request has ended, too. */
    void formEnded(FormSummary summary);
}
