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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

/**
 * The init parameters of a {@link SluiceFilter}. Each name is the key of a {@link Setting}. If a setting applies to one
 * path only, the path and a colon precede the key. Blank values are ignored.
 */
final class FilterParameters {
    private final FilterConfig config;
    private final Map<Setting, String> given = new EnumMap<>(Setting.class);
    private final Map<String, Map<Setting, String>> paths = new LinkedHashMap<>();

    /** @throws IllegalArgumentException if a name is unknown or a value malformed */
    FilterParameters(FilterConfig config) {
        this.config = config;
        for (String name : Collections.list(config.getInitParameterNames())) {
            String text = config.getInitParameter(name);
            int colon = name.startsWith("/") ? name.lastIndexOf(':') : -1;
            Setting setting = Setting.of(name.substring(colon + 1));
            if (!text.isBlank()) {
                check(name.substring(0, colon + 1), setting, text);
                if (colon < 0) {
                    given.put(setting, text);
                } else {
                    at(name.substring(0, colon), setting).put(setting, text);
                }
            }
        }
    }

    private static void check(String path, Setting setting, String text) {
        try {
            setting.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(path + e.getMessage(), e);
        }
    }

    void each(BiConsumer<Setting, String> setter, Scope... scopes) {
        given.forEach((setting, text) -> {
            if (List.of(scopes).contains(setting.scope())) {
                setter.accept(setting, text);
            }
        });
    }

    FormOptions options(SpoolDirectory spool) {
        MemoryBudget memory = MemoryBudget.parse(given.get(Setting.MEMORY_BUDGET_BYTES));
        FormOptions.Builder options = FormOptions.builder(spool, memory);
        each(options::set, Scope.BODY, Scope.FORM);
        return options.build();
    }

    private Map<Setting, String> at(String path, Setting setting) {
        if (setting.scope() != Scope.BODY && setting.scope() != Scope.FORM) {
            throw new IllegalArgumentException(path + ":" + setting.key() + " is not a setting of a form");
        }
        PathOptions.check(path);
        return paths.computeIfAbsent(path, none -> new EnumMap<>(Setting.class));
    }

    void eachPath(BiConsumer<String, UnaryOperator<FormOptions.Builder>> setter) {
        paths.forEach((path, settings) -> setter.accept(path, options -> {
            settings.forEach(options::set);
            return options;
        }));
    }

    SpoolDirectory openSpool() throws IOException, ServletException {
        Object temporary = config.getServletContext().getAttribute(ServletContext.TEMPDIR);
        if (!given.containsKey(Setting.DIRECTORY) && !(temporary instanceof File)) {
            throw new ServletException("the container does not provide a temporary directory: set the init"
                    + " parameter \"directory\" of SluiceFilter");
        }
        SpoolDirectory.Builder spool =
                SpoolDirectory.builder(temporary instanceof File directory ? directory.toPath() : Path.of(""));
        each(spool::set, Scope.SPOOL);
        return spool.open();
    }
}
