package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.Limits;
import dev.sluice.Preset;
import dev.sluice.form.CapacityException;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilterParametersTest {
    private static final String[] SIZES = {
        "maxBodyBytes", "maxPartBytes", "maxParts", "maxFiles", "maxFieldBytes", "maxHeaderBytesPerPart",
        "maxHeadersPerPart", "maxHeaderBytes", "spillThreshold", "maxInMemoryBytes", "maxDrainBytes", "maxSpoolBytes",
        "keepFreeBytes", "memoryBudgetBytes", "minBytesPerSecond"
    };

    @TempDir
    private Path temporary;

    private final MultipartFilter filter = new MultipartFilter();

    @AfterEach
    void destroy() throws IOException {
        filter.destroy();
        try (var left = Files.list(temporary)) {
            assertEquals(0, left.count(), "the spool of the filter goes with it");
        }
    }

    private record Config(Map<String, String> parameters, ServletContext context) implements FilterConfig {
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
        ServletContext context = new ServletContextHandler().getServletContext();
        context.setAttribute(ServletContext.TEMPDIR, temporary.toFile());
        Map<String, String> parameters = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            parameters.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return new Config(parameters, context);
    }

    private Reception with(String... namesAndValues) throws ServletException {
        filter.destroy();
        filter.init(config(namesAndValues));
        return filter.reception();
    }

    private void assertSize(String name, Function<Reception, Number> value) throws ServletException {
        assertEquals(2048L, value.apply(with(name, "2KiB")).longValue(), name);
        assertEquals(77L, value.apply(with(name, " 77 ")).longValue(), name);
    }

    private void assertUnlimited(String name, Function<Reception, Number> value) throws ServletException {
        assertSize(name, value);
        assertEquals(Long.MAX_VALUE, value.apply(with(name, "unlimited")).longValue(), name);
    }

    private static Limits limits(Reception reception) {
        return reception.options().multipart().limits();
    }

    @Test
    void theDefaultsAreThoseOfTheFormAndTheTemporaryDirectoryOfTheContext() throws Exception {
        Reception reception = with();
        FormOptions expected = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        FormOptions options = reception.options();
        assertEquals(
                expected.multipart().limits().maxBodyBytes(), limits(reception).maxBodyBytes());
        assertEquals(expected.multipart().limits().maxFiles(), limits(reception).maxFiles());
        assertEquals(expected.multipart().limits().maxParts(), limits(reception).maxParts());
        assertEquals(
                expected.multipart().limits().maxFieldBytes(), limits(reception).maxFieldBytes());
        assertEquals(expected.spillThreshold(), options.spillThreshold());
        assertEquals(expected.maxInMemoryBytes(), options.maxInMemoryBytes());
        assertEquals(expected.maxDrainBytes(), options.maxDrainBytes());
        assertSame(Preset.STANDARD, options.multipart().preset());
        assertEquals(temporary, Objects.requireNonNull(options.spool()).path().getParent());
        assertEquals(1L << 30, options.spool().maxBytes());
        assertEquals(temporary, reception.location());
        assertEquals(Runtime.getRuntime().maxMemory() / 4, options.memory().capacity());
        assertEquals(240, reception.minBytesPerSecond());
        assertEquals(Duration.ofSeconds(5), reception.grace());
        assertFalse(filter.isEager());
    }

    @Test
    void eachLimitIsAnInitParameter() throws Exception {
        assertUnlimited("maxBodyBytes", reception -> limits(reception).maxBodyBytes());
        assertUnlimited("maxPartBytes", reception -> limits(reception).maxPartBytes());
        assertUnlimited("maxParts", reception -> limits(reception).maxParts());
        assertUnlimited("maxFiles", reception -> limits(reception).maxFiles());
        assertUnlimited("maxFieldBytes", reception -> limits(reception).maxFieldBytes());
        assertUnlimited("maxHeaderBytes", reception -> limits(reception).maxHeaderBytes());
        assertSize("maxHeaderBytesPerPart", reception -> limits(reception).maxHeaderBytesPerPart());
        assertSize("maxHeadersPerPart", reception -> limits(reception).maxHeadersPerPart());
    }

    @Test
    void eachPlaceForBytesIsAnInitParameter() throws Exception {
        assertSize("spillThreshold", reception -> reception.options().spillThreshold());
        assertSize("maxInMemoryBytes", reception -> reception.options().maxInMemoryBytes());
        assertSize("maxDrainBytes", reception -> reception.options().maxDrainBytes());
        assertUnlimited(
                "maxSpoolBytes",
                reception -> Objects.requireNonNull(reception.options().spool()).maxBytes());
        assertUnlimited(
                "memoryBudgetBytes", reception -> reception.options().memory().capacity());
        assertEquals(3L << 20, limits(with("maxBodyBytes", "3 MiB")).maxBodyBytes());
        assertEquals(5L << 30, limits(with("maxBodyBytes", "5GiB")).maxBodyBytes());
    }

    @Test
    void theFreeSpaceToKeepIsAnInitParameter() throws Exception {
        FormOptions options =
                with("keepFreeBytes", "1000000GiB", "spillThreshold", "0").options();
        byte[] body = new FormBody().field("a", "1").closed();
        assertThrows(
                CapacityException.class,
                () -> MultipartForm.read(new ByteArrayInputStream(body), Boundary.of("B"), options));
    }

    @Test
    void directoryAndLocationAreInitParameters() throws Exception {
        Path directory = temporary.resolve("d");
        Reception reception = with("directory", directory.toString());
        assertEquals(
                directory,
                Objects.requireNonNull(reception.options().spool()).path().getParent());
        assertEquals(directory, reception.location());
        reception = with("directory", directory.toString(), "location", temporary.toString());
        assertEquals(temporary, reception.location());
        filter.destroy();
        Files.delete(directory);
    }

    @Test
    void thePresetIsAnInitParameter() throws Exception {
        assertEquals(
                Preset.STANDARD,
                with("preset", "standard").options().multipart().preset());
        assertEquals(
                Preset.STRICT, with("preset", "strict").options().multipart().preset());
        assertEquals(
                Preset.COMPATIBLE,
                with("preset", "compatible").options().multipart().preset());
        assertRefused("preset", "lax", "standard, strict or compatible");
    }

    @Test
    void whenToParseIsAnInitParameter() throws Exception {
        with("parse", "eager");
        assertTrue(filter.isEager());
        with("parse", "lazy");
        assertFalse(filter.isEager());
        assertRefused("parse", "sometimes", "lazy or eager");
    }

    @Test
    void theMinimumRateIsTwoInitParameters() throws Exception {
        assertNull(with("minBytesPerSecond", "none").newPace());
        Reception reception = with("minBytesPerSecond", "1KiB", "minRateGrace", "1500ms");
        assertEquals(1024, reception.minBytesPerSecond());
        assertEquals(Duration.ofMillis(1500), reception.grace());
        assertNotNull(reception.newPace());
        assertEquals(Duration.ofSeconds(7), with("minRateGrace", "7s").grace());
        assertEquals(Duration.ofSeconds(8), with("minRateGrace", "8").grace());
        assertNotNull(with("minRateGrace", Long.MAX_VALUE + "s").newPace()); // more than 292 years
        assertRefused("minRateGrace", "soon", "500ms");
        assertRefused("minRateGrace", "0s", "500ms");
        assertRefused("minRateGrace", "-5s", "500ms");
        assertRefused("minBytesPerSecond", "0", "from 1 on");
    }

    private void assertRefused(String name, String value, String word) {
        ServletException refused = assertThrows(ServletException.class, () -> with(name, value), name + "=" + value);
        assertTrue(refused.getMessage().contains(name), refused.getMessage());
        assertTrue(refused.getMessage().contains(word), refused.getMessage());
    }

    @Test
    void whatIsNoSizeIsRefused() {
        for (String name : SIZES) {
            for (String value : new String[] {"-1", "ten", "1KB", "9000000000GiB", "1.5MiB", "UNLIMITED"}) {
                assertRefused(name, value, "KiB, MiB or GiB");
            }
        }
        for (String name : new String[] {"maxHeaderBytesPerPart", "maxHeadersPerPart"}) {
            assertRefused(name, "3GiB", "KiB");
            assertRefused(name, "unlimited", "KiB");
        }
    }

    @Test
    void anUnknownParameterIsRefusedWithAListOfTheKnownOnes() {
        ServletException refused = assertThrows(ServletException.class, () -> with("maxBodySize", "1"));
        assertTrue(refused.getMessage().contains("maxBodySize"), refused.getMessage());
        for (String name : SIZES) {
            assertTrue(refused.getMessage().contains(name), refused.getMessage());
        }
    }

    @Test
    void aDirectoryThatCannotBeMadeIsRefused() throws Exception {
        Path file = Files.createFile(temporary.resolve("file"));
        assertThrows(
                ServletException.class,
                () -> with("directory", file.resolve("below").toString()));
        Files.delete(file);
        assertThrows(ServletException.class, () -> with("directory", "a\0b"));
    }

    @Test
    void withoutADirectoryOfTheContainerOneHasToBeNamed() {
        Config config = config();
        config.context().removeAttribute(ServletContext.TEMPDIR);
        ServletException refused = assertThrows(ServletException.class, () -> filter.init(config));
        assertTrue(refused.getMessage().contains("directory"), refused.getMessage());
    }

    @Test
    void aFilterThatIsConfiguredInCodeTakesNoParameters() throws Exception {
        MultipartFilter inCode = MultipartFilter.of(
                FormOptions.inMemory(MemoryBudget.unlimited()).build());
        assertThrows(ServletException.class, () -> inCode.init(config("parse", "eager")));
        inCode.init(config());
        assertEquals(0, inCode.live());
        inCode.destroy();
    }
}
