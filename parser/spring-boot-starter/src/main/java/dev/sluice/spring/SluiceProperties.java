package dev.sluice.spring;

import dev.sluice.Setting;
import dev.sluice.Setting.Scope;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;
import org.springframework.util.unit.DataSize;

/** What the application's properties say of the {@linkplain Setting settings}: {@code sluice.*} before Boot's own. */
final class SluiceProperties {
    private static final Log LOG = LogFactory.getLog(SluiceProperties.class);
    private static final String PREFIX = "sluice";
    private static final String BOOT = "spring.servlet.multipart.";

    /** A property of Boot's, the setting that it is here, and what it is unless set. */
    private record Known(String property, Setting setting, String byDefault) {}

    private static final List<Known> KNOWN = List.of(
            new Known("max-file-size", Setting.MAX_PART_BYTES, "1MB"),
            new Known("max-request-size", Setting.MAX_BODY_BYTES, "10MB"),
            new Known("file-size-threshold", Setting.SPILL_THRESHOLD, "0B"),
            new Known("location", Setting.DIRECTORY, System.getProperty("java.io.tmpdir")));

    private final Map<Setting, String> texts = new EnumMap<>(Setting.class);
    private final boolean lazy;

    private SluiceProperties(Binder binder) {
        for (Known known : KNOWN) {
            String said = text(binder, BOOT + known.property());
            texts.put(known.setting(), translated(known, said == null || said.isBlank() ? known.byDefault() : said));
        }
        for (Setting setting : Setting.values()) {
            String said = text(binder, PREFIX + "." + kebab(setting));
            if (said != null && !said.isBlank()) {
                put(binder, setting, said);
            }
        }
        warnOfUnknown(binder);
        lazy = binder.bind(BOOT + "resolve-lazily", Boolean.class).orElse(false);
    }

    /**
     * {@return what is said in {@code environment}}
     *
     * @throws IllegalArgumentException if a value cannot be read; names the property
     */
    static SluiceProperties of(Environment environment) {
        return new SluiceProperties(Binder.get(environment));
    }

    private static @Nullable String text(Binder binder, String property) {
        return binder.bind(property, String.class).orElse(null);
    }

    private static String translated(Known known, String said) {
        if (known.setting().kind() != Setting.Kind.BYTES) {
            return said;
        }
        try {
            long bytes = DataSize.parse(said.strip()).toBytes();
            return bytes >= 0 ? Long.toString(bytes) : "unlimited";
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(BOOT + known.property() + "=" + said + ": " + e.getMessage(), e);
        }
    }

    private void put(Binder binder, Setting setting, String said) {
        String text = said;
        try {
            text = inBytes(setting, said);
            setting.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PREFIX + "." + kebab(setting) + ": " + e.getMessage(), e);
        }
        for (Known known : KNOWN) {
            String other = known.setting() == setting ? text(binder, BOOT + known.property()) : null;
            if (other != null) {
                LOG.warn(PREFIX + "." + kebab(setting) + "=" + said + " is used, and not " + BOOT + known.property()
                        + "=" + other + ": remove one of them");
            }
        }
        texts.put(setting, text);
    }

    /** {@return {@code said}, or what it is in bytes where it is one of Spring's sizes, such as 10MB} */
    private static String inBytes(Setting setting, String said) {
        boolean springs = setting.kind() == Setting.Kind.BYTES && said.strip().matches("(?i)[0-9]+[KMGT]?B");
        return springs
                ? Long.toString(
                        DataSize.parse(said.strip().toUpperCase(Locale.ROOT)).toBytes())
                : said;
    }

    /** A warning only: variables of the environment may begin with the same word. */
    private static void warnOfUnknown(Binder binder) {
        Set<String> known = Stream.concat(
                        Stream.of("enabled"), Stream.of(Setting.values()).map(Setting::key))
                .map(key -> key.toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        try {
            Map<String, Object> said = binder.bind(PREFIX, Bindable.mapOf(String.class, Object.class))
                    .orElse(Map.of());
            for (String key : said.keySet()) {
                if (!known.contains(key.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT))) {
                    LOG.warn(PREFIX + "." + key + " is no property: is it misspelt?");
                }
            }
        } catch (BindException e) {
            LOG.debug("the properties below " + PREFIX + " cannot be listed", e);
        }
    }

    /** {@return its name in Spring's spelling, such as {@code max-body-bytes}} */
    static String kebab(Setting setting) {
        return setting.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Tells of what is set, in the given scopes. */
    void each(BiConsumer<Setting, String> setter, Scope... scopes) {
        List<Scope> wanted = List.of(scopes);
        texts.forEach((setting, text) -> {
            if (wanted.contains(setting.scope())) {
                setter.accept(setting, text);
            }
        });
    }

    SpoolDirectory.Builder spool() {
        SpoolDirectory.Builder spool = SpoolDirectory.builder(Path.of(""));
        each(spool::set, Scope.SPOOL);
        return spool;
    }

    MemoryBudget memory() {
        String text = texts.get(Setting.MEMORY_BUDGET_BYTES);
        long bytes = text == null
                ? Setting.MEMORY_BUDGET_BYTES.formDefault()
                : (Long) Setting.MEMORY_BUDGET_BYTES.parse(text);
        return bytes == Long.MAX_VALUE ? MemoryBudget.unlimited() : MemoryBudget.of(bytes);
    }

    boolean resolvesLazily() {
        return lazy;
    }
}
