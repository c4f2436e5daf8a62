package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Setting;
import dev.sluice.Setting.Scope;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.MultipartConfigElement;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

@ExtendWith(OutputCaptureExtension.class)
class SluicePropertiesTest {
    @TempDir
    private Path directory;

    /** {@return the limits that Boot would set} Their class has different names in Boot 3 and 4. */
    private static MultipartConfigElement bootLimits(MockEnvironment environment) {
        Class<?> type = Stream.of("autoconfigure.web.servlet", "servlet.autoconfigure")
                .map(part -> "org.springframework.boot." + part + ".MultipartProperties")
                .filter(name -> ClassUtils.isPresent(name, null))
                .map(name -> ClassUtils.resolveClassName(name, null))
                .findFirst()
                .orElseThrow();
        Object properties = Binder.get(environment).bindOrCreate("spring.servlet.multipart", type);
        return (MultipartConfigElement)
                ReflectionUtils.invokeMethod(ClassUtils.getMethod(type, "createMultipartConfig"), properties);
    }

    private static Map<Setting, String> settings(MockEnvironment environment) {
        MultipartConfigElement boot = bootLimits(environment);
        Map<Setting, String> all = new EnumMap<>(Setting.class);
        SluiceProperties.ofServlets(
                        environment,
                        boot.getMaxFileSize(),
                        boot.getMaxRequestSize(),
                        boot.getFileSizeThreshold(),
                        boot.getLocation())
                .forEach(all::put, Scope.values());
        return all;
    }

    private static Map<Setting, String> settings(String property, MockEnvironment environment) {
        return property.contains("servlet") ? settings(environment) : webFlux(environment);
    }

    private static Map<Setting, String> webFlux(MockEnvironment environment) {
        Map<Setting, String> all = new EnumMap<>(Setting.class);
        SluiceProperties.ofWebFlux(environment).forEach(all::put, Scope.values());
        return all;
    }

    private static MockEnvironment with(String property, String value) {
        return new MockEnvironment().withProperty(property, value);
    }

    @ParameterizedTest
    @EnumSource(Setting.class)
    void setting_isAProperty(Setting setting) {
        String value = switch (setting.kind()) {
            case BYTES, COUNT -> "77";
            case TIME -> "7000ms";
            case FLAG -> "true";
            case PRESET -> "strict";
            case CHARSET -> "ISO-8859-1";
            case PATH -> "somewhere";
            case PARSE -> "eager";
        };
        String property = "sluice." + SluiceProperties.kebab(setting);
        assertEquals(value, settings(with(property, value)).get(setting));
        InvalidConfigurationPropertyValueException wrong =
                assertThrows(InvalidConfigurationPropertyValueException.class, () -> settings(with(property, "\0")));
        assertEquals(property, wrong.getName());

        String atPath = "sluice.paths[/videos/*]." + SluiceProperties.kebab(setting);
        if (setting.scope() == Scope.BODY || setting.scope() == Scope.FORM) {
            assertEquals(Map.of("/videos/*", Map.of(setting, value)), atPaths(with(atPath, value)));
        }
        wrong = assertThrows(InvalidConfigurationPropertyValueException.class, () -> atPaths(with(atPath, "\0")));
        assertEquals(atPath, wrong.getName());
    }

    private static Map<String, Map<Setting, String>> atPaths(MockEnvironment environment) {
        return SluiceProperties.ofServlets(environment, -1, -1, 0, "").paths;
    }

    @ParameterizedTest
    @CsvSource({
        "sluice.paths[/videos/*].max-boddy-bytes, 5MB, max-boddy-bytes is not a setting of a form",
        "sluice.paths[/videos/*].memory-budget-bytes, 5MB, memory-budget-bytes is not a setting of a form",
        "sluice.paths./videos/*.max-body-bytes, 5MB, write a path in brackets",
        "sluice.paths[/videos/*.mp4].max-body-bytes, 5MB, the pattern /videos/*.mp4 is invalid",
    })
    void pathProperty_invalid_isRejectedAtStartup(String property, String value, String reason) {
        InvalidConfigurationPropertyValueException wrong = assertThrows(
                InvalidConfigurationPropertyValueException.class,
                () -> SluiceProperties.ofServlets(with(property, value), -1, -1, 0, "")
                        .forEachPath(SluiceFilter.builder(
                                FormOptions.inMemory(MemoryBudget.of(1 << 20)).build())::path));
        assertTrue(wrong.getReason().contains(reason), wrong::getReason);
    }

    @Test
    void pathProperty_withWebFlux_isRejected() {
        MockEnvironment environment = with("sluice.paths[/videos/*].max-body-bytes", "5MB");
        assertThrows(
                InvalidConfigurationPropertyValueException.class,
                () -> new SluiceWebFluxAutoConfiguration().sluiceProperties(environment));
    }

    @ParameterizedTest
    @CsvSource({
        "sluice.max-sink-wait, MAX_SINK_WAIT, 2m, 120000ms",
        "sluice.max-sink-wait, MAX_SINK_WAIT, PT5S, 5000ms",
        "sluice.max-sink-wait, MAX_SINK_WAIT, 3, 3000ms",
        "sluice.max-body-bytes, MAX_BODY_BYTES, 5MB, 5242880",
        "sluice.max-body-bytes, MAX_BODY_BYTES, 5MiB, 5MiB",
        "sluice.max-body-bytes, MAX_BODY_BYTES, unlimited, unlimited",
    })
    void value_inSyntaxOfSpringOrSluice_isAccepted(String property, Setting setting, String value, String text) {
        assertEquals(text, settings(with(property, value)).get(setting));
    }

    @Test
    void environmentVariables_areReadWithoutWarning(CapturedOutput output) {
        MockEnvironment environment = new MockEnvironment();
        environment
                .getPropertySources()
                .addFirst(new SystemEnvironmentPropertySource(
                        "systemEnvironment", Map.of("SLUICE_MAX_FILES", "5", "SLUICE_SERVICE_HOST", "10.0.0.1")));
        assertEquals("5", settings(environment).get(Setting.MAX_FILES));
        assertEquals("", output.getAll());
    }

    @ParameterizedTest
    @CsvSource({
        "max-file-size, MAX_PART_BYTES, 1048576, 2MB, 2097152",
        "max-file-size, MAX_PART_BYTES, 1048576, -1, unlimited",
        "max-request-size, MAX_BODY_BYTES, 10485760, -1, unlimited",
        "file-size-threshold, SPILL_THRESHOLD, 0, 4096, 4096",
        "file-size-threshold, SPILL_THRESHOLD, 0, -1, 0",
    })
    void bootProperty_orItsDefault_isUsed(String name, Setting setting, String unset, String value, String text) {
        assertEquals(unset, settings(new MockEnvironment()).get(setting));
        String property = "spring.servlet.multipart." + name;
        assertEquals(text, settings(with(property, value)).get(setting));
    }

    @ParameterizedTest
    @CsvSource({
        "max-in-memory-size, SPILL_THRESHOLD, 262144, 4KB, 4096",
        "max-headers-size, MAX_HEADER_BYTES_PER_PART, 10240, 4KB, 4096",
        "max-disk-usage-per-part, MAX_PART_BYTES, unlimited, 2MB, 2097152",
        "max-disk-usage-per-part, MAX_PART_BYTES, unlimited, -1, unlimited",
        "max-parts, MAX_PARTS, unlimited, 7, 7",
        "headers-charset, HEADER_CHARSET, UTF-8, ISO-8859-1, ISO-8859-1",
        "headers-charset, HEADER_CHARSET, UTF-8, ' ', UTF-8",
    })
    void webFluxProperty_orItsDefault_isUsed(String name, Setting setting, String unset, String value, String text) {
        assertEquals(unset, webFlux(new MockEnvironment()).get(setting));
        assertEquals(
                text, webFlux(with("spring.webflux.multipart." + name, value)).get(setting));
        assertEquals("5MiB", webFlux(with("sluice.max-body-bytes", "5MiB")).get(Setting.MAX_BODY_BYTES));
    }

    @Test
    void minusOne_inWebFlux_isUnlimited() {
        Map<Setting, String> all = webFlux(with("spring.webflux.multipart.max-in-memory-size", "-1")
                .withProperty("spring.webflux.multipart.max-headers-size", "-1"));
        for (Setting setting :
                List.of(Setting.SPILL_THRESHOLD, Setting.MAX_IN_MEMORY_BYTES, Setting.MAX_HEADER_BYTES_PER_PART)) {
            assertEquals(setting.maximum(), setting.parse(all.get(setting)));
        }
    }

    @Test
    void form_withUnlimitedHeaders_isRead() throws IOException {
        FormOptions.Builder options = FormOptions.inMemory(MemoryBudget.of(64 << 20));
        SluiceProperties.ofWebFlux(with("spring.webflux.multipart.max-headers-size", "-1"))
                .forEach(options::set, Scope.BODY, Scope.FORM);
        byte[] body =
                "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--B--".getBytes(StandardCharsets.UTF_8);
        try (MultipartForm form =
                Forms.of(options.build()).read(new ByteArrayInputStream(body), "multipart/form-data; boundary=B")) {
            assertEquals("b", form.text("a"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "spring.servlet.multipart.file-size-threshold, 1",
        "spring.servlet.multipart.file-size-threshold, 3",
        "spring.webflux.multipart.max-in-memory-size, 1",
        "spring.webflux.multipart.max-in-memory-size, 3"
    })
    void file_atBootThreshold_staysInMemory(String property, int megabytes) throws IOException {
        MockEnvironment environment = with(property, megabytes + "MB");
        Map<Setting, String> values = settings(property, environment);
        String head = "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n";
        String field = "\r\n--B\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\nanother part";
        byte[] body = (head + "x".repeat(megabytes << 20) + field + "\r\n--B--").getBytes(StandardCharsets.UTF_8);
        try (SpoolDirectory spool = SpoolDirectory.open(directory)) {
            FormOptions.Builder options = FormOptions.builder(spool, MemoryBudget.of(64 << 20));
            for (Setting setting : List.of(Setting.SPILL_THRESHOLD, Setting.MAX_IN_MEMORY_BYTES)) {
                if (values.containsKey(setting)) {
                    options.set(setting, values.get(setting));
                }
            }
            try (MultipartForm form =
                    Forms.of(options.build()).read(new ByteArrayInputStream(body), "multipart/form-data; boundary=B")) {
                assertTrue(form.parts().get(0).isInMemory());
            }
        }
        environment.setProperty("sluice.spill-threshold", " ");
        assertEquals(values, settings(property, environment));
        environment.setProperty("sluice.spill-threshold", "64KB");
        Map<Setting, String> withOwnThreshold = settings(property, environment);
        assertFalse(withOwnThreshold.containsKey(Setting.MAX_IN_MEMORY_BYTES));
        environment.setProperty("sluice.max-in-memory-bytes", "7");
        assertEquals("7", settings(environment).get(Setting.MAX_IN_MEMORY_BYTES));
    }

    @Test
    void sluiceAndBootProperty_bothSet_logAWarning(CapturedOutput output) {
        MockEnvironment both =
                with("sluice.max-body-bytes", "5MB").withProperty("spring.servlet.multipart.max-request-size", "7MB");
        assertEquals("5242880", settings(both).get(Setting.MAX_BODY_BYTES));
        assertTrue(output.getOut().contains("sluice.max-body-bytes=5MB takes precedence over"), output::getOut);
    }

    @Test
    void misspelledProperty_logsAWarning(CapturedOutput output) {
        settings(with("sluice.max-boddy-bytes", "5MB").withProperty("sluice.maxFiles", "5"));
        assertTrue(output.getOut().contains("sluice.max-boddy-bytes is not a known property"), output::getOut);
        assertFalse(output.getOut().toLowerCase(Locale.ROOT).contains("maxfiles"), output::getOut);
    }

    @Test
    void metadata_listsAllSettingsAndDefaults() throws Exception {
        String json;
        try (InputStream in =
                SluicePropertiesTest.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            json = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        Object listed = JsonParserFactory.getJsonParser().parseMap(json).get("properties");
        Map<Object, Object> defaults = ((List<?>) listed)
                .stream()
                        .map(Map.class::cast)
                        .collect(Collectors.toMap(
                                one -> one.get("name"), one -> String.valueOf(one.get("defaultValue"))));
        Map<String, String> expected = Stream.of(Setting.values())
                .collect(Collectors.toMap(
                        setting -> "sluice." + SluiceProperties.kebab(setting), SluicePropertiesTest::expectedDefault));
        expected.put("sluice.enabled", "true");
        expected.put("sluice.paths", "null");
        expected.put("sluice.log-rejected", "info");
        String page = Files.readString(
                Path.of(System.getProperty("sluice.rootDir", "../.."), "parser/docs/spring-boot-s3.md"));
        for (RecordComponent property : S3Properties.class.getRecordComponents()) {
            String key = property.getName().replaceAll("[A-Z]", "-$0").toLowerCase(Locale.ROOT);
            assertTrue(page.contains('`' + key + '`') || page.contains('`' + key + ".<name>`"), key);
            String name = "sluice.s3." + key;
            assertTrue(defaults.containsKey(name), name);
            expected.put(name, String.valueOf(defaults.get(name)));
        }
        expected.put(StoreHealth.ENABLED, "true");
        assertEquals(expected, defaults);
    }

    /** {@return the default in the metadata; {@code "null"} if it depends on Boot, the preset or the machine} */
    private static String expectedDefault(Setting setting) {
        return switch (setting) {
            case MAX_PART_BYTES, MAX_BODY_BYTES, SPILL_THRESHOLD, MEMORY_BUDGET_BYTES, DIRECTORY, LOCATION -> "null";
            case PRESET -> "standard";
            case HEADER_CHARSET -> "UTF-8";
            case PARSE -> "lazy";
            default -> {
                long value = setting.formDefault();
                yield switch (setting.kind()) {
                    case FLAG -> value < 0 ? "null" : String.valueOf(value > 0);
                    case TIME -> value / 1_000_000_000L + "s";
                    default -> value == Long.MAX_VALUE ? "unlimited" : String.valueOf(value);
                };
            }
        };
    }
}
