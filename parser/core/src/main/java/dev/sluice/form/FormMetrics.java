package dev.sluice.form;

/** Is told what became of each form, once: on the thread that ends it, so be quick and do not throw. */
@FunctionalInterface
public interface FormMetrics {
    /** A form has ended, well or not. */
    void formEnded(FormSummary summary);
}
