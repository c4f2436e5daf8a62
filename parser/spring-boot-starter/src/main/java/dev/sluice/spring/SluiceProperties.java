package dev.sluice.spring;

import dev.sluice.Setting;
import dev.sluice.Setting.Scope;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.MultipartConfigElement;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
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
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.unit.DataSize;

/** What the application's properties say of the {@linkplain Setting settings}: {@code sluice.*} before Boot's own. */
final class SluiceProperties {
    private static final Log LOG = LogFactory.getLog(SluiceProperties.class);
    private static final String PREFIX = "sluice";
    private static final String BOOT = "spring.servlet.multipart.";

    /** What Boot has a property for, too. */
    private static final Map<Setting, String> KNOWN = Map.of(
            Setting.MAX_PART_BYTES, "max-file-size",
            Setting.MAX_BODY_BYTES, "max-request-size",
            Setting.SPILL_THRESHOLD, "file-size-threshold",
            Setting.DIRECTORY, "location");

    private final Map<Setting, String> texts = new EnumMap<>(Setting.class);
    private final boolean lazy;
    private final boolean strict;

    private SluiceProperties(Environment environment, MultipartConfigElement boot) {
        Binder binder = Binder.get(environment);
        texts.put(Setting.MAX_PART_BYTES, limit(boot.getMaxFileSize()));
        texts.put(Setting.MAX_BODY_BYTES, limit(boot.getMaxRequestSize()));
        texts.put(Setting.SPILL_THRESHOLD, Integer.toString(Math.max(0, boot.getFileSizeThreshold())));
        String location = boot.getLocation();
        texts.put(Setting.DIRECTORY, location.isBlank() ? System.getProperty("java.io.tmpdir") : location);
        for (Setting setting : Setting.values()) {
            String said = text(binder, PREFIX + "." + kebab(setting));
            if (said != null && !said.isBlank()) {
                put(binder, setting, said);
            }
        }
        warnOfUnknown(environment);
        lazy = binder.bind(BOOT + "resolve-lazily", Boolean.class).orElse(false);
        strict = binder.bind(BOOT + "strict-servlet-compliance", Boolean.class).orElse(false);
    }

    /**
     * {@return what is said in {@code environment}}
     *
     * @param boot the limits that the container would have: of Boot's properties, or of the application's own bean
     * @throws InvalidConfigurationPropertyValueException if a value cannot be read; Boot says which, and where it is from
     */
    static SluiceProperties of(Environment environment, MultipartConfigElement boot) {
        return new SluiceProperties(environment, boot);
    }

    private static String limit(long bytes) {
        return bytes >= 0 ? Long.toString(bytes) : "unlimited";
    }

    private static @Nullable String text(Binder binder, String property) {
        return binder.bind(property, String.class).orElse(null);
    }

    private void put(Binder binder, Setting setting, String said) {
        String property = PREFIX + "." + kebab(setting);
        try {
            String text = translated(setting, said.strip());
            setting.parse(text);
            texts.put(setting, text);
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(property, said, String.valueOf(e.getMessage()));
        }
        String known = KNOWN.get(setting);
        String other = known == null ? null : text(binder, BOOT + known);
        if (other != null) {
            LOG.warn(
                    property + "=" + said + " is used, and not " + BOOT + known + "=" + other + ": remove one of them");
        }
    }

    /** {@return {@code said}, or what it means where it is one of Spring's sizes or times, such as 10MB or 1m} */
    private static String translated(Setting setting, String said) {
        if (setting.kind() == Setting.Kind.BYTES && said.matches("(?i)[0-9]+[KMGT]?B")) {
            return Long.toString(DataSize.parse(said.toUpperCase(Locale.ROOT)).toBytes());
        }
        if (setting.kind() == Setting.Kind.TIME) {
            return DurationStyle.detectAndParse(said, ChronoUnit.SECONDS).toMillis() + "ms";
        }
        return said;
    }

    /** A warning only, and not of variables of the environment: others may begin with the same word. */
    private static void warnOfUnknown(Environment environment) {
        Set<String> known = Stream.concat(
                        Stream.of("enabled"), Stream.of(Setting.values()).map(Setting::key))
                .map(key -> key.toLowerCase(Locale.ROOT))
                .collect(Collectors.toSet());
        ConfigurationPropertyName prefix = ConfigurationPropertyName.of(PREFIX);
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource listed
                    && !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource)) {
                listed.stream()
                        .filter(name -> prefix.isAncestorOf(name)
                                && !known.contains(name.getElement(1, ConfigurationPropertyName.Form.UNIFORM)))
                        .forEach(name -> LOG.warn(name + " is no property: is it misspelt?"));
            }
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

    boolean isStrict() {
        return strict;
    }
}
