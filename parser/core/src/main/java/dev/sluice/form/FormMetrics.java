package dev.sluice.form;

/**
 * Is told what became of each form, once: on the thread that ends it, so be quick.
 *
 * <p>What it throws changes nothing for the form: a complete one is handed out, a failed one fails for its own reason.
 * The throwable goes to the {@linkplain Thread#getUncaughtExceptionHandler() uncaught exception handler} of the thread.
 */
@FunctionalInterface
public interface FormMetrics {
    /** A form has ended, well or not. */
    void formEnded(FormSummary summary);
}
