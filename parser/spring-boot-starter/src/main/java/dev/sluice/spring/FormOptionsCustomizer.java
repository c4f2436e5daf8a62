package dev.sluice.spring;

import dev.sluice.form.FormOptions;

/** Changes how forms are taken, after all properties: where parts go, who is told of progress. To be defined as a bean. */
@FunctionalInterface
public interface FormOptionsCustomizer {
    /** Changes {@code options}; called once, when the application starts. */
    void customize(FormOptions.Builder options);
}
