package dev.sluice.spring;

import dev.sluice.form.FormOptions;

/**
 * A bean that changes the options of forms, such as where parts are stored. It runs after all properties have been
 * applied.
 */
@FunctionalInterface
public interface FormOptionsCustomizer {
    /** Changes {@code options}. Called once, when the application starts. */
    void customize(FormOptions.Builder options);
}
