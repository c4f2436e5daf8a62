package dev.sluice.spring;

import dev.sluice.Setting;
import dev.sluice.Setting.Scope;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.util.unit.DataSize;

/**
 * The {@linkplain Setting settings} from the properties of an application. {@code sluice.*} takes precedence over
 * Boot's properties. If a value of {@code sluice.*} is invalid, an {@link InvalidConfigurationPropertyValueException} is
 * thrown, and Boot reports the property and its origin.
 */
final class SluiceProperties {
    private static final Log LOG = LogFactory.getLog(SluiceProperties.class);
    private static final String PREFIX = "sluice";
    private static final String PATHS = PREFIX + ".paths";
    private static final String LOG_REJECTED = PREFIX + ".log-rejected";
    private static final String S3 = "s3";
    private static final String S3_BUCKET = PREFIX + "." + S3 + ".bucket";
    private static final Bindable<Map<String, Map<String, String>>> SETTINGS_BY_PATH =
            Bindable.of(ResolvableType.forClassWithGenerics(
                    Map.class,
                    ResolvableType.forClass(String.class),
                    ResolvableType.forClassWithGenerics(Map.class, String.class, String.class)));
    private static final String SERVLET_PREFIX = "spring.servlet.multipart.";
    private static final String RESOLVE_LAZILY = SERVLET_PREFIX + "resolve-lazily";
    private static final String WEBFLUX_PREFIX = "spring.webflux.multipart.";
    private static final String TEMPORARY_DIRECTORY = System.getProperty("java.io.tmpdir");

    /** The properties that Boot has for the same settings. */
    private static final Map<Setting, String> SERVLET_PROPERTIES = Map.of(
            Setting.MAX_PART_BYTES, SERVLET_PREFIX + "max-file-size",
            Setting.MAX_BODY_BYTES, SERVLET_PREFIX + "max-request-size",
            Setting.SPILL_THRESHOLD, SERVLET_PREFIX + "file-size-threshold",
            Setting.DIRECTORY, SERVLET_PREFIX + "location");

    private static final Map<Setting, String> WEBFLUX_PROPERTIES = Map.of(
            Setting.MAX_PART_BYTES, WEBFLUX_PREFIX + "max-disk-usage-per-part",
            Setting.MAX_PARTS, WEBFLUX_PREFIX + "max-parts",
            Setting.MAX_HEADER_BYTES_PER_PART, WEBFLUX_PREFIX + "max-headers-size",
            Setting.SPILL_THRESHOLD, WEBFLUX_PREFIX + "max-in-memory-size",
            Setting.HEADER_CHARSET, WEBFLUX_PREFIX + "headers-charset",
            Setting.DIRECTORY, WEBFLUX_PREFIX + "file-storage-directory");

    private final Map<Setting, String> values = new EnumMap<>(Setting.class);
    /** The settings for single paths. */
    final Map<String, Map<Setting, String>> paths = new LinkedHashMap<>();

    private final Map<Setting, String> bootProperties;
    final RejectionLog.Level rejectionLogLevel;
    /** Whether Spring MVC reads forms only when the controller needs them. */
    final boolean lazy;
    /** Whether Spring MVC reads {@code multipart/form-data} only. */
    final boolean strict;

    /**
     * @param bootProperties the properties that Boot has for the same settings
     * @param bootValues the values of these properties, or Boot's defaults
     */
    private SluiceProperties(
            Environment environment, Map<Setting, String> bootProperties, Map<Setting, String> bootValues) {
        Binder binder = Binder.get(environment);
        this.bootProperties = bootProperties;
        values.putAll(bootValues);
        if (StringUtils.hasText(text(binder, PREFIX + "." + kebab(Setting.SPILL_THRESHOLD)))) {
            // putThreshold() may have raised this limit to fit Boot's threshold, which sluice.spill-threshold replaces.
            values.remove(Setting.MAX_IN_MEMORY_BYTES);
        }
        for (Setting setting : Setting.values()) {
            String value = text(binder, PREFIX + "." + kebab(setting));
            if (value != null && !value.isBlank()) {
                put(binder, setting, value);
            }
        }
        binder.bind(PATHS, SETTINGS_BY_PATH)
                .orElse(Map.of())
                .forEach((path, settings) -> settings.forEach((key, value) -> putForPath(path, key, value)));
        warnAboutUnknownProperties(environment);
        boolean usesStore = binder.bind(S3_BUCKET, String.class).isBound();
        if (usesStore && !ClassUtils.isPresent("dev.sluice.s3.S3Sinks", null)) {
            LOG.warn(S3_BUCKET + " is ignored: add the dependency dev.sluice:sluice-s3");
            usesStore = false;
        }
        rejectionLogLevel = binder.bind(LOG_REJECTED, RejectionLog.Level.class).orElse(RejectionLog.Level.INFO);
        lazy = binder.bind(RESOLVE_LAZILY, Boolean.class).orElse(usesStore);
        strict = binder.bind(SERVLET_PREFIX + "strict-servlet-compliance", Boolean.class)
                .orElse(false);
    }

    /**
     * {@return the properties of a servlet application} The other arguments are the defaults: the values of the
     * application's {@code MultipartConfigElement}.
     */
    static SluiceProperties ofServlets(
            Environment environment, long maxFileSize, long maxRequestSize, int threshold, String location) {
        Map<Setting, String> boot = new EnumMap<>(Setting.class);
        boot.put(Setting.MAX_PART_BYTES, limit(maxFileSize));
        boot.put(Setting.MAX_BODY_BYTES, limit(maxRequestSize));
        boot.put(Setting.DIRECTORY, location.isBlank() ? TEMPORARY_DIRECTORY : location);
        putThreshold(boot, Math.max(0, threshold));
        return new SluiceProperties(environment, SERVLET_PROPERTIES, boot);
    }

    /**
     * {@return the properties of a WebFlux application} A setting that Boot has a property for has the value of this
     * property, or Boot's default. Other settings have Sluice's default.
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
                limit(binder.bind(WEBFLUX_PROPERTIES.get(Setting.MAX_PARTS), Integer.class)
                        .orElse(-1)));
        boot.put(Setting.HEADER_CHARSET, text(binder, Setting.HEADER_CHARSET, "UTF-8"));
        boot.put(Setting.DIRECTORY, text(binder, Setting.DIRECTORY, TEMPORARY_DIRECTORY));
        return new SluiceProperties(environment, WEBFLUX_PROPERTIES, boot);
    }

    /**
     * Sets Boot's threshold for one file. If it is not less than Sluice's default limit for a whole form in memory,
     * removes that limit, which would make the threshold ineffective.
     */
    private static void putThreshold(Map<Setting, String> boot, long bytes) {
        boot.put(Setting.SPILL_THRESHOLD, Long.toString(bytes));
        if (bytes >= Setting.MAX_IN_MEMORY_BYTES.formDefault()) {
            boot.put(Setting.MAX_IN_MEMORY_BYTES, Long.toString(Setting.MAX_IN_MEMORY_BYTES.maximum()));
        }
    }

    private static long size(Binder binder, Setting setting, long defaultValue) {
        return binder.bind(WEBFLUX_PROPERTIES.get(setting), DataSize.class)
                .map(DataSize::toBytes)
                .orElse(defaultValue);
    }

    private static String text(Binder binder, Setting setting, String defaultValue) {
        String text = text(binder, Objects.requireNonNull(WEBFLUX_PROPERTIES.get(setting)));
        return StringUtils.hasText(text) ? text : defaultValue;
    }

    private static String limit(long bytes) {
        return bytes >= 0 ? Long.toString(bytes) : "unlimited";
    }

    private static @Nullable String text(Binder binder, String property) {
        return binder.bind(property, String.class).orElse(null);
    }

    /** Sets a value of {@code sluice.*}, and warns if Boot's property is set too. */
    private void put(Binder binder, Setting setting, String value) {
        String property = PREFIX + "." + kebab(setting);
        values.put(setting, checked(setting, property, value));
        String bootProperty = bootProperties.get(setting);
        String bootValue = bootProperty == null ? null : text(binder, bootProperty);
        if (bootValue != null) {
            LOG.warn(property + "=" + value + " takes precedence over " + bootProperty + "=" + bootValue
                    + ": remove one of them");
        }
    }

    /**
     * Sets a value for one path. A misspelled setting is an error here, because no other library uses {@code
     * sluice.paths}.
     */
    private void putForPath(String path, String key, String value) {
        String property = PATHS + "[" + path + "]." + key;
        String name = key.replace("-", "");
        Setting setting = Stream.of(Setting.values())
                .filter(one -> one.key().equalsIgnoreCase(name))
                .filter(one -> one.scope() == Scope.BODY || one.scope() == Scope.FORM)
                .findAny()
                .orElseThrow(() -> new InvalidConfigurationPropertyValueException(
                        property, value, key + " is not a setting of a form"));
        if (!value.isBlank()) {
            paths.computeIfAbsent(path, none -> new EnumMap<>(Setting.class))
                    .put(setting, checked(setting, property, value));
        }
    }

    private static String checked(Setting setting, String property, String value) {
        try {
            String text = toSluiceSyntax(setting, value.strip());
            setting.parse(text);
            return text;
        } catch (IllegalArgumentException e) {
            throw new InvalidConfigurationPropertyValueException(property, value, String.valueOf(e.getMessage()));
        }
    }

    /**
     * {@return {@code value} in the syntax of {@link Setting}, converted if it is a size or duration in the notation of Spring, such
     * as 10MB or 1m}
     */
    private static String toSluiceSyntax(Setting setting, String value) {
        if (setting.kind() == Setting.Kind.BYTES && value.matches("(?i)[0-9]+[KMGT]?B")) {
            return Long.toString(DataSize.parse(value.toUpperCase(Locale.ROOT)).toBytes());
        }
        if (setting.kind() == Setting.Kind.TIME) {
            return DurationStyle.detectAndParse(value, ChronoUnit.SECONDS).toMillis() + "ms";
        }
        return value;
    }

    /**
     * Warns about unknown properties. They are not an error, and environment variables are not checked, because another
     * program may use the same prefix.
     */
    private static void warnAboutUnknownProperties(Environment environment) {
        Set<String> known = Stream.concat(
                        Stream.of("enabled", "paths", "logrejected", S3),
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
                        .forEach(
                                name -> LOG.warn(name + " is not a known property and is ignored: check the spelling"));
            }
        }
    }

    /** {@return the name of {@code setting} in Spring's spelling, such as {@code max-body-bytes}} */
    static String kebab(Setting setting) {
        return setting.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Passes each value of the given scopes to {@code setter}. */
    void forEach(BiConsumer<Setting, String> setter, Scope... scopes) {
        List<Scope> wanted = List.of(scopes);
        values.forEach((setting, text) -> {
            if (wanted.contains(setting.scope())) {
                setter.accept(setting, text);
            }
        });
    }

    /**
     * Passes each path and its settings to {@code setter}.
     *
     * @throws InvalidConfigurationPropertyValueException if {@code setter} rejects a path
     */
    void forEachPath(BiConsumer<String, UnaryOperator<FormOptions.Builder>> setter) {
        paths.forEach((path, settings) -> {
            try {
                setter.accept(path, options -> {
                    settings.forEach(options::set);
                    return options;
                });
            } catch (IllegalArgumentException e) {
                String hint = path.startsWith("/") ? "" : "; write a path in brackets, as in " + PATHS + "[/videos/*]";
                throw new InvalidConfigurationPropertyValueException(PATHS, path, e.getMessage() + hint);
            }
        });
    }

    SpoolDirectory openSpool() {
        SpoolDirectory.Builder spool = SpoolDirectory.builder(Path.of(""));
        forEach(spool::set, Scope.SPOOL);
        try {
            return spool.open();
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "uploads cannot be stored (check " + bootProperties.get(Setting.DIRECTORY)
                            + " or sluice.directory): " + e.getMessage(),
                    e);
        }
    }

    MemoryBudget memoryBudget() {
        return MemoryBudget.parse(values.get(Setting.MEMORY_BUDGET_BYTES));
    }

    /** {@return whether multipart bodies that are not forms are rejected} */
    boolean rejectsOtherMultipart() {
        return !"false".equalsIgnoreCase(values.get(Setting.REFUSE_OTHER_MULTIPART));
    }

    /**
     * Requires that Spring MVC does not read forms before it calls the controller. This is the default if {@code
     * sluice.s3.bucket} is set.
     *
     * @throws InvalidConfigurationPropertyValueException if the application has turned it off
     */
    void requireLazyResolution() {
        if (!lazy) {
            throw new InvalidConfigurationPropertyValueException(
                    RESOLVE_LAZILY,
                    false,
                    "a form can only stream into the object store if it has not been read before its controller is"
                            + " called. Remove the property, or remove sluice.s3.bucket");
        }
    }
}
