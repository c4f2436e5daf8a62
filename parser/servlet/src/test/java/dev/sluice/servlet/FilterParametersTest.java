package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartOptions;
import dev.sluice.Setting;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The init parameters of the filter: their defaults, and the rejection of invalid ones. */
class FilterParametersTest {
    @TempDir
    private Path temporary;

    private final SluiceFilter filter = new SluiceFilter();

    @AfterEach
    void destroy() throws IOException {
        filter.destroy();
        try (var left = Files.list(temporary)) {
            assertEquals(0, left.count(), "destroy() left the spool of the filter");
        }
    }

    record Config(Map<String, String> parameters, ServletContext context) implements FilterConfig {
        @Override
        public String getFilterName() {
            return "multipart";
        }

        @Override
        public ServletContext getServletContext() {
            return context;
        }

        @Override
        public String getInitParameter(String name) {
            return parameters.get(name);
        }

        @Override
        public Enumeration<String> getInitParameterNames() {
            return Collections.enumeration(parameters.keySet());
        }
    }

    private Config config(String... namesAndValues) {
        return config(temporary, namesAndValues);
    }

    static Config config(Path temporary, String... namesAndValues) {
        ServletContext context = new ServletContextHandler().getServletContext();
        context.setAttribute(ServletContext.TEMPDIR, temporary.toFile());
        Map<String, String> parameters = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            parameters.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return new Config(parameters, context);
    }

    private FormService with(String... namesAndValues) throws ServletException {
        filter.destroy();
        filter.init(config(namesAndValues));
        return filter.service();
    }

    @Test
    void directoryAndLocation_areInitParameters() throws Exception {
        Path directory = temporary.resolve("d");
        FormService service = with("directory", directory.toString());
        assertEquals(
                directory,
                Objects.requireNonNull(service.forms.options().spool()).path().getParent());
        assertEquals(directory, service.location);
        service = with("directory", directory.toString(), "location", temporary.toString());
        assertEquals(temporary, service.location);
        filter.destroy();
        Files.delete(directory);
    }

    @Test
    void defaults_areFormDefaultsAndTempDirectory() throws Exception {
        FormService service = with("maxParts", " "); // a blank value is ignored
        FormOptions expected = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        assertEquals(values(expected), values(service.forms.options()));
        assertEquals(temporary, service.location);
        assertEquals(
                temporary,
                Objects.requireNonNull(service.forms.options().spool()).path().getParent());
        assertEquals(
                Runtime.getRuntime().maxMemory() / 4,
                service.forms.options().memory().capacity());
    }

    @Test
    void invalidValue_isRejectedWithItsName() {
        assertRejected("maxBodyBytes", "1.5MiB", "or unlimited");
        assertRejected("spillThreshold", "unlimited", "at least 0");
        assertRejected("minBytesPerSecond", "0", "at least 1, or none");
        assertRejected("parse", "sometimes", "lazy or eager");
        assertRejected("headerCharset", "UTF-16", "superset of US-ASCII");
    }

    private void assertRejected(String name, String value, String word) {
        ServletException rejected = assertThrows(ServletException.class, () -> with(name, value), name + "=" + value);
        assertTrue(rejected.getMessage().contains(name), rejected.getMessage());
        assertTrue(rejected.getMessage().contains(word), rejected.getMessage());
    }

    @Test
    void pathPrefix_setsOptionForThatPathOnly() throws Exception {
        FormService service = with(
                "maxPartBytes", "500",
                "maxParts", "9",
                "/videos/*:maxPartBytes", "1KiB",
                "/videos/a:b:maxParts", "7",
                "/videos/a:b:spillThreshold", " ");
        assertEquals(500, at(service, "/").maxPartBytes());
        assertEquals(1024, at(service, "/videos/a").maxPartBytes());
        assertEquals(9, at(service, "/videos/a").maxParts());
        assertEquals(500, at(service, "/videos/a:b").maxPartBytes());
        assertEquals(7, at(service, "/videos/a:b").maxParts());
        assertRejected("/videos/*:directory", "/tmp", "not a setting of a form");
        assertRejected("/videos/*:parse", "lazy", "not a setting of a form");
        assertRejected("/videos/*:maxParts", "many", "at least 0");
        assertThrows(ServletException.class, () -> with("/vid*s:maxParts", "1"));
    }

    /** A container does not destroy a filter that did not start. */
    @Test
    void init_failed_leavesNoSpool() throws IOException {
        assertRejected("/videos/*:headerCharset", "UTF-16", "superset of US-ASCII");
        String notAPath = "\ud800"; // cannot be encoded, which is detected only after the spool was opened
        assertThrows(ServletException.class, () -> with("location", notAPath));
        try (var left = Files.list(temporary)) {
            assertEquals(0, left.count());
        }
    }

    /** {@return the values of all settings of a form, each from the getter with the name of the setting} */
    private static Map<Setting, Object> values(FormOptions options) throws ReflectiveOperationException {
        Map<Setting, Object> values = new EnumMap<>(Setting.class);
        for (Setting setting : Setting.values()) {
            Object owner = setting.scope() == Setting.Scope.BODY ? options.multipart() : options;
            if (owner != options || setting.scope() == Setting.Scope.FORM) {
                values.put(setting, owner.getClass().getMethod(setting.key()).invoke(owner));
            }
        }
        return values;
    }

    private static MultipartOptions at(FormService service, String path) {
        HttpServletRequest request = (HttpServletRequest) Proxy.newProxyInstance(
                HttpServletRequest.class.getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (proxy, method, of) -> method.getName().equals("getServletPath") ? path : null);
        return service.options(request).multipart();
    }

    @Test
    void unknownParameter_isRejectedWithListOfKnownOnes() {
        ServletException rejected = assertThrows(ServletException.class, () -> with("maxBodySize", "1"));
        assertTrue(rejected.getMessage().contains("maxBodySize"), rejected.getMessage());
        for (Setting setting : Setting.values()) {
            assertTrue(rejected.getMessage().contains(setting.key()), rejected.getMessage());
        }
    }

    @Test
    void directory_notCreatable_isRejected() throws Exception {
        Path file = Files.createFile(temporary.resolve("file"));
        assertThrows(
                ServletException.class,
                () -> with("directory", file.resolve("below").toString()));
        Files.delete(file);
        assertThrows(ServletException.class, () -> with("directory", "a\0b"));
    }

    @Test
    void directory_missing_isRejected() {
        Config config = config();
        config.context().removeAttribute(ServletContext.TEMPDIR);
        ServletException rejected = assertThrows(ServletException.class, () -> filter.init(config));
        assertTrue(rejected.getMessage().contains("directory"), rejected.getMessage());
    }

    @Test
    void initParameters_filterConfiguredInCode_areRejected() throws Exception {
        SluiceFilter inCode =
                SluiceFilter.of(FormOptions.inMemory(MemoryBudget.unlimited()).build());
        assertThrows(ServletException.class, () -> inCode.init(config("parse", "eager")));
        inCode.init(config());
        assertEquals(0, inCode.live());
        inCode.destroy();
    }
}
