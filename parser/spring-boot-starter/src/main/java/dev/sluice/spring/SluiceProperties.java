package dev.sluice.spring;

import dev.sluice.Setting;
import dev.sluice.Setting.Scope;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.unit.DataSize;

/** What the application's properties say of the {@linkplain Setting settings}: {@code sluice.*} before Boot's own. */
final class SluiceProperties {
    private static final Log LOG = LogFactory.getLog(SluiceProperties.class);
    private static final String PREFIX = "sluice";
    private static final String PATHS = PREFIX + ".paths";
    private static final Bindable<Map<String, Map<String, String>>> BY_PATH =
            Bindable.of(ResolvableType.forClassWithGenerics(
                    Map.class,
                    ResolvableType.forClass(String.class),
                    ResolvableType.forClassWithGenerics(Map.class, String.class, String.class)));
    private static final String OF_SERVLETS = "spring.servlet.multipart.";
    private static final String OF_WEBFLUX = "spring.webflux.multipart.";

    /** What Boot has a property for, too. */
    private static final Map<Setting, String> KNOWN_OF_SERVLETS = Map.of(
            Setting.MAX_PART_BYTES, OF_SERVLETS + "max-file-size",
            Setting.MAX_BODY_BYTES, OF_SERVLETS + "max-request-size",
            Setting.SPILL_THRESHOLD, OF_SERVLETS + "file-size-threshold",
            Setting.DIRECTORY, OF_SERVLETS + "location");

    private static final Map<Setting, String> KNOWN_OF_WEBFLUX = Map.of(
            Setting.MAX_PART_BYTES, OF_WEBFLUX + "max-disk-usage-per-part",
            Setting.MAX_PARTS, OF_WEBFLUX + "max-parts",
            Setting.MAX_HEADER_BYTES_PER_PART, OF_WEBFLUX + "max-headers-size",
            Setting.SPILL_THRESHOLD, OF_WEBFLUX + "max-in-memory-size",
            Setting.HEADER_CHARSET, OF_WEBFLUX + "headers-charset",
            Setting.DIRECTORY, OF_WEBFLUX + "file-storage-directory");

    private final Map<Setting, String> texts = new EnumMap<>(Setting.class);
    /** By the path that they are for alone. */
    final Map<String, Map<Setting, String>> paths = new LinkedHashMap<>();

    private final Map<Setting, String> known;
    private final boolean lazy;
    private final boolean strict;

    /**
     * @param known what Boot has a property for, too
     * @param boot what it says there, or by default
     */
    private SluiceProperties(Environment environment, Map<Setting, String> known, Map<Setting, String> boot) {
        Binder binder = Binder.get(environment);
        this.known = known;
        texts.putAll(boot);
        if (text(binder, PREFIX + "." + kebab(Setting.SPILL_THRESHOLD)) != null) {
            texts.remove(Setting.MAX_IN_MEMORY_BYTES); // which made way for Boot's threshold, that does not count now
        }
        for (Setting setting : Setting.values()) {
            String said = text(binder, PREFIX + "." + kebab(setting));
            if (said != null && !said.isBlank()) {
                put(binder, setting, said);
            }
        }
        binder.bind(PATHS, BY_PATH)
                .orElse(Map.of())
                .forEach((path, settings) -> settings.forEach((key, said) -> putAt(path, key, said)));
        warnOfUnknown(environment);
        lazy = binder.bind(OF_SERVLETS + "resolve-lazily", Boolean.class).orElse(false);
        strict = binder.bind(OF_SERVLETS + "strict-servlet-compliance", Boolean.class)
                .orElse(false);
    }

    /**
     * {@return what is said in {@code environment} of an application of servlets, and else by the others: what the container
     * would have, of Boot's properties or of the application's own bean}
     *
     * @throws InvalidConfigurationPropertyValueException if a value cannot be read; Boot says which, and where it is from
     */
    static SluiceProperties ofServlets(
            Environment environment, long maxFileSize, long maxRequestSize, int threshold, String location) {
        Map<Setting, String> boot = new EnumMap<>(Setting.class);
        boot.put(Setting.MAX_PART_BYTES, limit(maxFileSize));
        boot.put(Setting.MAX_BODY_BYTES, limit(maxRequestSize));
        boot.put(Setting.DIRECTORY, directory(location));
        putThreshold(boot, Math.max(0, threshold));
        return new SluiceProperties(environment, KNOWN_OF_SERVLETS, boot);
    }

    /**
     * {@return what is said in {@code environment} of an application of WebFlux, with Boot's defaults where it has a property,
     * and ours where it has none}
     *
     * @throws InvalidConfigurationPropertyValueException if a value cannot be read; Boot says which, and where it is from
     */
    static SluiceProperties ofWebFlux(Environment environment) {
        Binder binder = Binder.get(environment);
        Map<Setting, String> boot = new EnumMap<>(Setting.class);
        long inMemory = size(binder, Setting.SPILL_THRESHOLD, 256 << 10);
        putThreshold(boot, inMemory < 0 ? Setting.SPILL_THRESHOLD.maximum() : inMemory);
        long headers = size(binder, Setting.MAX_HEADER_BYTES_PER_PART, 10 << 10);
        boot.put(
                Setting.MAX_HEADER_BYTES_PER_PART,
                Long.toString(headers < 0 ? Setting.MAX_HEADER_BYTES_PER_PART.maximum() : headers));
        boot.put(Setting.MAX_PART_BYTES, limit(size(binder, Setting.MAX_PART_BYTES, -1)));
        boot.put(
                Setting.MAX_PARTS,
                limit(binder.bind(KNOWN_OF_WEBFLUX.get(Setting.MAX_PARTS), Integer.class)
                        .orElse(-1)));
        boot.put(Setting.HEADER_CHARSET, said(binder, Setting.HEADER_CHARSET, "UTF-8"));
        boot.put(Setting.DIRECTORY, directory(said(binder, Setting.DIRECTORY, "")));
        return new SluiceProperties(environment, KNOWN_OF_WEBFLUX, boot);
    }

    /** Boot has no limit for all files of a form: by ours, what it says of one of them would not hold. */
    private static void putThreshold(Map<Setting, String> boot, long bytes) {
        boot.put(Setting.SPILL_THRESHOLD, Long.toString(bytes));
        if (bytes >= Setting.MAX_IN_MEMORY_BYTES.formDefault()) {
            boot.put(Setting.MAX_IN_MEMORY_BYTES, Long.toString(Setting.MAX_IN_MEMORY_BYTES.maximum()));
        }
    }

    private static long size(Binder binder, Setting setting, long byDefault) {
        return binder.bind(KNOWN_OF_WEBFLUX.get(setting), DataSize.class)
                .map(DataSize::toBytes)
                .orElse(byDefault);
    }

    private static String said(Binder binder, Setting setting, String byDefault) {
        return binder.bind(KNOWN_OF_WEBFLUX.get(setting), String.class).orElse(byDefault);
    }

    private static String directory(String location) {
        return location.isBlank() ? System.getProperty("java.io.tmpdir") : location;
    }

    private static String limit(long bytes) {
        return bytes >= 0 ? Long.toString(bytes) : "unlimited";
    }

    private static @Nullable String text(Binder binder, String property) {
        return binder.bind(property, String.class).orElse(null);
    }

    private void put(Binder binder, Setting setting, String said) {
        String property = PREFIX + "." + kebab(setting);
        texts.put(setting, parsed(setting, property, said));
        String boots = known.get(setting);
        String other = boots == null ? null : text(binder, boots);
        if (other != null) {
            LOG.warn(property + "=" + said + " is used, and not " + boots + "=" + other + ": remove one of them");
        }
    }

    /** What is said for one path alone: a misspelt setting is an error there, as a path is nothing that others have too. */
    private void putAt(String path, String key, String said) {
        String property = PATHS + "[" + path + "]." + key;
        String name = key.replace("-", "");
        Setting setting = Stream.of(Setting.values())
                .filter(one -> one.key().equalsIgnoreCase(name))
                .filter(one -> one.scope() == Scope.BODY || one.scope() == Scope.FORM)
                .findAny()
                .orElseThrow(() -> new InvalidConfigurationPropertyValueException(
                        property, said, key + " is not a setting of a form"));
        if (!said.isBlank()) {
            paths.computeIfAbsent(path, none -> new EnumMap<>(Setting.class))
                    .put(setting, parsed(setting, property, said));
        }
    }

    private static String parsed(Setting setting, String property, String said) {
        try {
            String text = translated(setting, said.strip());
            setting.parse(text);
            return text;
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(property, said, String.valueOf(e.getMessage()));
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
                        Stream.of("enabled", "paths"),
                        Stream.of(Setting.values()).map(Setting::key))
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

    /**
     * Tells of what is set for one path alone.
     *
     * @throws InvalidConfigurationPropertyValueException if {@code setter} does not take a path
     */
    void eachPath(BiConsumer<String, UnaryOperator<FormOptions.Builder>> setter) {
        paths.forEach((path, settings) -> {
            try {
                setter.accept(path, options -> {
                    settings.forEach(options::set);
                    return options;
                });
            } catch (IllegalArgumentException e) {
                String hint = path.startsWith("/") ? "" : "; a path stands in brackets, as in " + PATHS + "[/videos/*]";
                throw new InvalidConfigurationPropertyValueException(PATHS, path, e.getMessage() + hint);
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

    /** {@return what Boot calls the directory} */
    String directoryProperty() {
        return String.valueOf(known.get(Setting.DIRECTORY));
    }

    /** {@return whether other multipart bodies than forms are refused} */
    boolean refusesOthers() {
        return !"false".equalsIgnoreCase(texts.get(Setting.REFUSE_OTHER_MULTIPART));
    }

    boolean resolvesLazily() {
        return lazy;
    }

    boolean isStrict() {
        return strict;
    }
}
