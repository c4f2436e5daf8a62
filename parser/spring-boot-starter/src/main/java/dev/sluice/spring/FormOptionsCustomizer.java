package dev.sluice.spring;

import dev.sluice.form.FormOptions;

/** Changes the options of forms after all properties were applied, such as where parts go. Define it as a bean. */
@FunctionalInterface
public interface FormOptionsCustomizer {
    /** Changes {@code options}; called once, when the application starts. */
    void customize(FormOptions.Builder options);
}
