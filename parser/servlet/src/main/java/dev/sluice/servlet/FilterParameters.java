package dev.sluice.servlet;

import dev.sluice.Setting;
import dev.sluice.Setting.Scope;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** The init parameters of a {@link SluiceFilter}: a {@link Setting} each, by its key; blank ones are as absent. */
final class FilterParameters {
    private final FilterConfig config;
    private final Map<Setting, String> given = new EnumMap<>(Setting.class);

    FilterParameters(FilterConfig config) {
        this.config = config;
    }

    /** {@return how forms are taken, the spool open} */
    FormOptions options() throws ServletException {
        try {
            for (String name : Collections.list(config.getInitParameterNames())) {
                String text = config.getInitParameter(name);
                Setting setting = Setting.of(name);
                if (!text.isBlank()) {
                    setting.parse(text); // before anything is opened
                    given.put(setting, text);
                }
            }
            SpoolDirectory spool = openSpool();
            try {
                return options(spool);
            } catch (RuntimeException e) {
                try {
                    spool.close();
                } catch (IOException suppressed) {
                    e.addSuppressed(suppressed);
                }
                throw e;
            }
        } catch (IllegalArgumentException e) {
            throw new ServletException("init parameter of SluiceFilter: " + e.getMessage(), e);
        }
    }

    private void each(BiConsumer<Setting, String> setter, Scope... scopes) {
        given.forEach((setting, text) -> {
            for (Scope scope : scopes) {
                if (setting.scope() == scope) {
                    setter.accept(setting, text);
                }
            }
        });
    }

    private FormOptions options(SpoolDirectory spool) {
        Setting budget = Setting.MEMORY_BUDGET_BYTES;
        long bytes = given.containsKey(budget) ? (long) budget.parse(given.get(budget)) : budget.formDefault();
        MemoryBudget memory = bytes == Long.MAX_VALUE ? MemoryBudget.unlimited() : MemoryBudget.of(bytes);
        FormOptions.Builder options = FormOptions.builder(spool, memory);
        each(options::set, Scope.BODY, Scope.FORM);
        return options.build();
    }

    /** Tells what is set for the filter alone. */
    void each(BiConsumer<Setting, String> setter) {
        each(setter, Scope.FILTER);
    }

    private SpoolDirectory openSpool() throws ServletException {
        Object temporary = config.getServletContext().getAttribute(ServletContext.TEMPDIR);
        if (!given.containsKey(Setting.DIRECTORY) && !(temporary instanceof File)) {
            throw new ServletException("the container gives the web application no temporary directory: set the init"
                    + " parameter directory of SluiceFilter");
        }
        SpoolDirectory.Builder spool =
                SpoolDirectory.builder(temporary instanceof File directory ? directory.toPath() : Path.of(""));
        each(spool::set, Scope.SPOOL);
        try {
            return spool.open();
        } catch (IOException e) {
            throw new ServletException("the spool of SluiceFilter cannot be made: " + e.getMessage(), e);
        }
    }
}
