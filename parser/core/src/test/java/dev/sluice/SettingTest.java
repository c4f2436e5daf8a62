package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Setting.Kind;
import dev.sluice.Setting.Scope;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that the table of settings and the builders agree. {@code SettingsTest} of the filter tests the effect of each setting. */
class SettingTest {
    private static Object builder(Scope scope) {
        return switch (scope) {
            case BODY -> MultipartOptions.builder();
            case FORM -> FormOptions.inMemory(MemoryBudget.unlimited());
            default -> SpoolDirectory.builder(Path.of("unused"));
        };
    }

    private static boolean accepts(Scope builder, Setting setting) {
        return setting.scope() == builder || builder == Scope.FORM && setting.scope() == Scope.BODY;
    }

    private static Stream<Setting> settings(Scope builder) {
        return Stream.of(Setting.values()).filter(setting -> accepts(builder, setting));
    }

    private static boolean isNumber(Setting setting) {
        return setting.kind() == Kind.BYTES || setting.kind() == Kind.COUNT;
    }

    private static Object call(Object builder, String name, Object... arguments) throws Exception {
        Method method = Stream.of(builder.getClass().getMethods())
                .filter(found -> found.getName().equals(name) && found.getParameterCount() == arguments.length)
                .findFirst()
                .orElseThrow(() -> new AssertionError(name));
        try {
            boolean narrow = arguments.length == 1 && method.getParameterTypes()[0] == int.class;
            return narrow ? method.invoke(builder, (int) (long) arguments[0]) : method.invoke(builder, arguments);
        } catch (InvocationTargetException e) {
            throw (Exception) e.getCause();
        }
    }

    /** {@return the values of all settings of the options, read with the method that has the name of the setting} */
    private static Map<Setting, Object> values(Scope scope, Object options) throws Exception {
        Map<Setting, Object> values = new EnumMap<>(Setting.class);
        for (Setting setting : settings(scope).toList()) {
            boolean ofDecoder = options instanceof FormOptions && setting.scope() == Scope.BODY;
            Object value = call(ofDecoder ? ((FormOptions) options).multipart() : options, setting.key());
            values.put(setting, value instanceof Integer number ? (Object) number.longValue() : value);
        }
        return values;
    }

    private static Map<Setting, Object> built(Scope scope, Object builder) throws Exception {
        return values(scope, call(builder, "build"));
    }

    private static List<Object> allowed(Setting setting) {
        return switch (setting.kind()) {
            case BYTES, COUNT ->
                setting.offCall() == null
                        ? List.of(setting.minimum(), 7L, setting.maximum())
                        : List.of(setting.off(), setting.minimum(), 7L, setting.maximum());
            case TIME -> List.of(Duration.ofNanos(1), Duration.ofSeconds(7));
            case FLAG -> List.of(true, false);
            case PRESET -> List.of(Preset.STRICT); // decodes nothing, like the default
            case CHARSET -> List.of(StandardCharsets.ISO_8859_1);
            default -> throw new AssertionError(setting);
        };
    }

    private static String text(Object value) {
        return value instanceof Duration time ? time.toMillis() + "ms" : value.toString();
    }

    @ParameterizedTest
    @EnumSource(names = {"BODY", "FORM"})
    void setter_changesOnlyItsSetting(Scope scope) throws Exception {
        Map<Setting, Object> defaults = built(scope, builder(scope));
        for (Setting setting : settings(scope).toList()) {
            Map<Setting, Object> expected = new EnumMap<>(defaults);
            Object builder = builder(scope);
            for (Object value : allowed(setting)) {
                expected.put(setting, value);
                assertSame(builder, call(builder, setting.key(), value));
                assertEquals(expected, built(scope, builder));
                Object copy = call(call(builder, "build"), "toBuilder");
                assertEquals(expected, built(scope, copy));
                // As text, a setting is turned off by a word, and a time is at least a millisecond.
                boolean turnsOff = setting.offCall() != null && value.equals(setting.off());
                if (!turnsOff && !value.equals(Duration.ofNanos(1))) {
                    Object fromText = builder(scope);
                    assertSame(fromText, call(fromText, "set", setting, text(value)));
                    assertEquals(expected, built(scope, fromText));
                }
            }
            if (setting.offCall() != null) {
                expected.put(setting, setting.off());
                assertSame(builder, call(builder, setting.offCall().replace("()", "")));
                assertEquals(expected, built(scope, builder));
                Object fromText = call(builder(scope), "set", setting, setting.off() == 0 ? "None" : "unlimited");
                assertEquals(expected, built(scope, fromText));
            }
        }
    }

    @Test
    void defaults_matchTable() throws Exception {
        Map<Setting, Object> ofDecoder = values(Scope.BODY, MultipartOptions.defaults());
        Map<Setting, Object> ofForm = built(Scope.FORM, builder(Scope.FORM));
        for (Setting setting : settings(Scope.FORM).toList()) {
            Object value = Objects.requireNonNull(ofForm.get(setting));
            if (isNumber(setting)) {
                assertEquals(setting.formDefault(), value, setting.key());
                if (setting.scope() == Scope.BODY) {
                    assertEquals(setting.decoderDefault(), ofDecoder.get(setting), setting.key());
                }
            } else if (setting.kind() == Kind.TIME) {
                assertEquals(Duration.ofNanos(setting.formDefault()), value, setting.key());
            } else if (setting.kind() == Kind.FLAG) {
                assertEquals(false, value, setting.key()); // the preset decides, or the flag is off
            }
        }
        assertSame(Preset.STANDARD, ofForm.get(Setting.PRESET));
        assertEquals(StandardCharsets.UTF_8, ofForm.get(Setting.HEADER_CHARSET));
    }

    @Test
    void formBuilder_passesTheAllocatorToTheDecoder() {
        FormOptions.Builder builder = FormOptions.inMemory(MemoryBudget.unlimited());
        assertFalse(builder.build().multipart().hasAllocator());
        builder.allocator(UnpooledByteBufAllocator.DEFAULT);
        assertSame(
                UnpooledByteBufAllocator.DEFAULT,
                builder.build().toBuilder().build().multipart().allocator());
    }

    @Test
    void numberOutOfRange_messageNamesSettingAndCallThatTurnsItOff() {
        for (Setting setting : Setting.values()) {
            if (!isNumber(setting) || setting.scope() == Scope.MEMORY) {
                continue;
            }
            boolean narrow = setting.maximum() == Integer.MAX_VALUE;
            for (long value : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE}) {
                boolean turnsOff = setting.offCall() != null && value == setting.off();
                if (!turnsOff && (!narrow || value == (int) value)) {
                    IllegalArgumentException e = assertThrows(
                            IllegalArgumentException.class, () -> call(builder(setting.scope()), setting.key(), value));
                    assertTrue(e.getMessage().startsWith(setting.key() + " is " + value), e.getMessage());
                    assertTrue(e.getMessage().contains("must be " + setting.minimum()), e.getMessage());
                    assertEquals(setting.offCall() != null, e.getMessage().endsWith("call " + setting.offCall()));
                }
            }
        }
        assertThrows(
                IllegalArgumentException.class,
                () -> FormOptions.inMemory(MemoryBudget.unlimited()).minRateGrace(Duration.ZERO));
        assertThrows(
                IllegalArgumentException.class,
                () -> FormOptions.inMemory(MemoryBudget.unlimited()).minRateGrace(Duration.ofSeconds(Long.MIN_VALUE)));
    }

    @Test
    void key_isNameOfConstant() {
        assertEquals("maxHeaderBytesPerPart", Setting.MAX_HEADER_BYTES_PER_PART.key());
        assertEquals("preset", Setting.PRESET.toString());
        for (Setting setting : Setting.values()) {
            assertSame(setting, Setting.of(setting.key()));
        }
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Setting.of("maxBodySize"));
        assertTrue(e.getMessage().contains("maxBodySize; known are preset, headerCharset"), e.getMessage());
    }

    @Test
    void sizesAndTimes_haveUnits() {
        assertEquals(77, Setting.size(" 77 "));
        assertEquals(2048, Setting.size("2KiB"));
        assertEquals(3 << 20, Setting.size("3 MiB"));
        assertEquals(5L << 30, Setting.size("5g"));
        assertEquals(6L << 40, Setting.size("6TiB"));
        assertEquals(Duration.ofSeconds(7), Setting.MIN_RATE_GRACE.parse("7"));
        assertEquals(Duration.ofMillis(8), Setting.MIN_RATE_GRACE.parse("8ms"));
        Duration longest = Duration.ofNanos(Long.MAX_VALUE - 1); // 292 years
        assertEquals(longest, Setting.MIN_RATE_GRACE.parse(Long.MAX_VALUE + "s"));
        assertEquals(true, Setting.EXPAND_NESTED.parse("True"));
        assertEquals(false, Setting.EXPAND_NESTED.parse("false"));
        assertEquals(StandardCharsets.UTF_8, Setting.HEADER_CHARSET.parse("utf-8"));
        assertEquals("d", Setting.DIRECTORY.parse("d"));
        assertEquals("eager", Setting.PARSE.parse("Eager"));
        assertSame(Preset.COMPATIBLE, Setting.PRESET.parse("compatible"));
        for (String text : List.of("-1", "ten", "1KB", "9000000000GiB", "99999999999999999999", "1.5MiB", "")) {
            assertThrows(IllegalArgumentException.class, () -> Setting.size(text), text);
        }
    }

    @ParameterizedTest
    @EnumSource
    void malformedText_messageHasNameTextAndExpectedFormat(Setting setting) {
        String text = "\0-1";
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> setting.parse(text));
        assertTrue(e.getMessage().startsWith(setting.key() + " is '" + text + "', must be "), e.getMessage());
        boolean number = setting.kind() == Kind.BYTES || setting.kind() == Kind.COUNT;
        assertEquals(number, e.getMessage().contains(", at least " + setting.minimum()), e.getMessage());
        assertEquals(setting.offCall() != null, e.getMessage().contains(", or "), e.getMessage());
        if (number) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> setting.parse(setting.offCall() == null ? "unlimited" : "-1"));
        }
    }

    @Test
    void settingOfAnotherScope_isRejected() {
        for (Setting setting : Setting.values()) {
            for (Scope scope : List.of(Scope.BODY, Scope.FORM, Scope.SPOOL)) {
                if (!accepts(scope, setting)) {
                    assertThrows(IllegalArgumentException.class, () -> call(builder(scope), "set", setting, "1"));
                }
            }
        }
    }

    @Test
    void spoolDefaults_matchTable(@TempDir Path root) throws Exception {
        try (SpoolDirectory spool = SpoolDirectory.open(root)) {
            assertEquals(Setting.MAX_SPOOL_BYTES.formDefault(), spool.maxSpoolBytes());
        }
        try (SpoolDirectory spool = SpoolDirectory.builder(Path.of("unused"))
                .set(Setting.DIRECTORY, root.toString())
                .set(Setting.MAX_SPOOL_BYTES, "unlimited")
                .set(Setting.KEEP_FREE_BYTES, "1")
                .open()) {
            assertEquals(Long.MAX_VALUE, spool.maxSpoolBytes());
            assertEquals(root, spool.path().getParent());
        }
        try (SpoolDirectory spool =
                SpoolDirectory.builder(root).unlimitedSpoolBytes().open()) {
            assertEquals(Long.MAX_VALUE, spool.maxSpoolBytes());
        }
        try (SpoolDirectory spool = SpoolDirectory.builder(root)
                .maxSpoolBytes(Long.MAX_VALUE)
                .maxSpoolFiles(Long.MAX_VALUE)
                .open()) {
            assertEquals(Long.MAX_VALUE, spool.maxSpoolBytes());
            assertEquals(Long.MAX_VALUE, spool.maxSpoolFiles());
        }
    }

    @Test
    void setters_inAnyOrder_keepAllValues() {
        MultipartOptions given =
                MultipartOptions.builder().maxParts(3).preset(Preset.STRICT).build();
        FormOptions.Builder builder = FormOptions.inMemory(MemoryBudget.unlimited(), given)
                .spillThreshold(1)
                .maxBodyBytes(2);
        FormOptions options = builder.preset(Preset.COMPATIBLE).build().toBuilder()
                .maxFiles(4)
                .build();
        assertEquals(3, options.multipart().maxParts());
        assertEquals(1, options.spillThreshold());
        assertEquals(2, options.multipart().maxBodyBytes());
        assertEquals(4, options.multipart().maxFiles());
        assertSame(Preset.COMPATIBLE, options.multipart().preset());
        assertTrue(options.expandNested());
        assertNotNull(options.newPace());
        assertNull(options.toBuilder().noMinimumRate().build().newPace());
        assertEquals(Duration.ofSeconds(5), options.minRateGrace());
    }

    @Test
    void changedVerdicts_doNotChangeWhatIsDecoded() {
        Preset preset = Preset.COMPATIBLE
                .reporting(Deviation.TRANSFER_ENCODING, Deviation.NESTED_MULTIPART)
                .accepting(Deviation.BARE_LF)
                .refusing(Deviation.PREAMBLE);
        MultipartOptions options = MultipartOptions.builder().preset(preset).build();
        assertTrue(options.decodeTransferEncodings() && options.joinContinuations());
        assertFalse(options.toBuilder().decodeTransferEncodings(false).build().decodeTransferEncodings());
        Preset accepting = Preset.STANDARD.accepting(Deviation.TRANSFER_ENCODING);
        assertFalse(MultipartOptions.builder().preset(accepting).build().decodeTransferEncodings());
        for (Preset one : List.of(Preset.STANDARD, Preset.STRICT, Preset.COMPATIBLE)) {
            assertSame(one, Preset.named(" " + one.toString().toLowerCase(Locale.ROOT)));
            assertEquals(one == Preset.COMPATIBLE, one.decodes());
        }
        assertThrows(IllegalArgumentException.class, () -> Preset.named("lax"));
        assertFalse(Objects.equals(Preset.COMPATIBLE, Preset.STANDARD));
    }
}
