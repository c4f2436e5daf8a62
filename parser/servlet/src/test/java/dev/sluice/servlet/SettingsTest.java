package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Setting;
import dev.sluice.Setting.Scope;
import dev.sluice.form.ClientPace;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.FormSource;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.SettingCase;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests every setting through each {@link Entrance} in which it has an effect. The result must differ from the result
 * without the setting.
 */
class SettingsTest {
    private static final Boundary BOUNDARY = Boundary.of("x");

    enum Entrance {
        DECODER,
        READER,
        FORM,
        FILTER_BUILDER,
        INIT_PARAMETER;

        boolean isForm() {
            return this != DECODER && this != READER;
        }
    }

    /** @param entrances the entrances in which the setting has an effect */
    private record Case(
            Setting setting, String text, byte[] body, String before, String after, Set<Entrance> entrances) {}

    @TempDir
    private Path directory;

    private static Case inForms(Setting setting, String text, String before, String after) {
        return new Case(
                setting, text, new byte[0], before, after, EnumSet.range(Entrance.FORM, Entrance.INIT_PARAMETER));
    }

    private static Case inFilters(Setting setting, String text, String before, String after) {
        Set<Entrance> filters = EnumSet.range(Entrance.FILTER_BUILDER, Entrance.INIT_PARAMETER);
        return new Case(setting, text, new byte[0], before, after, filters);
    }

    private static Case of(SettingCase at) {
        Entrance least = Entrance.valueOf(at.from().name());
        Setting setting = Setting.of(at.setting());
        Set<Entrance> entrances = EnumSet.range(least, Entrance.INIT_PARAMETER);
        return new Case(setting, at.text(), at.bytes(), at.before(), at.after(), entrances);
    }

    private static List<Case> cases() {
        List<Case> cases =
                SettingCase.all().stream().map(SettingsTest::of).collect(Collectors.toCollection(ArrayList::new));
        cases.add(inForms(Setting.MAX_DRAIN_BYTES, "99", "reads 100 more", "reads no more"));
        cases.add(inForms(Setting.MIN_BYTES_PER_SECOND, "480", "waits 6000 ms", "waits 5500 ms"));
        cases.add(inForms(Setting.MIN_BYTES_PER_SECOND, "none", "waits 6000 ms", "waits"));
        cases.add(inForms(Setting.MIN_RATE_GRACE, "1500ms", "waits 6000 ms", "waits 2500 ms"));
        cases.add(inForms(Setting.MIN_RATE_GRACE, "7s", "waits 6000 ms", "waits 8000 ms"));
        cases.add(inForms(Setting.MAX_SINK_WAIT, "2s", "waits 30 s for a sink", "waits less than 30 s for a sink"));
        cases.add(inForms(Setting.DIRECTORY, "%s", "spool", "other"));
        cases.add(inForms(Setting.MEMORY_BUDGET_BYTES, "unlimited", "some", "any"));
        cases.add(inFilters(Setting.LOCATION, "%s", "spool", "other"));
        cases.add(inFilters(Setting.PARSE, "Eager", "lazy", "eager"));
        cases.add(inFilters(Setting.REFUSE_OTHER_MULTIPART, "false", "true", "false"));
        cases.add(inFilters(Setting.SERVE_DELETE, "true", "[POST, PUT, PATCH]", "[POST, PUT, PATCH, DELETE]"));
        return cases;
    }

    static List<Arguments> everySettingThroughEveryEntrance() {
        return cases().stream()
                .flatMap(at -> at.entrances().stream().map(entrance -> Arguments.of(at, entrance)))
                .toList();
    }

    @Test
    void cases_coverEverySetting() {
        assertEquals(
                EnumSet.allOf(Setting.class),
                cases().stream().map(Case::setting).collect(Collectors.toSet()));
    }

    @ParameterizedTest
    @MethodSource("everySettingThroughEveryEntrance")
    void setting_changesResult(Case at, Entrance entrance) throws Exception {
        assertNotEquals(at.before(), at.after());
        String text = String.format(at.text(), directory.resolve("other"));
        assertEquals(at.before(), outcome(at, entrance, null));
        assertEquals(at.after(), outcome(at, entrance, text));
    }

    private String outcome(Case at, Entrance entrance, @Nullable String text) throws Exception {
        try {
            return entrance.isForm()
                    ? outcome(at.setting(), entrance, text, at.body())
                    : streamed(entrance, decoderOptions(at.setting(), text), at.body());
        } catch (MultipartException e) {
            return "!" + e.reason();
        }
    }

    private static MultipartOptions decoderOptions(Setting setting, @Nullable String text) {
        MultipartOptions.Builder builder = MultipartOptions.builder();
        return (text == null ? builder : builder.set(setting, text)).build();
    }

    private static String streamed(Entrance entrance, MultipartOptions options, byte[] body) throws IOException {
        List<String> parts = new ArrayList<>();
        if (entrance == Entrance.READER) {
            try (MultipartReader reader = MultipartReader.create(new ByteArrayInputStream(body), BOUNDARY, options)) {
                for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                    parts.add(SettingCase.shown(part.name(), part.filename(), part.text()));
                }
            }
            return String.join(" ", parts);
        }
        try (MultipartDecoder decoder = MultipartDecoder.create("multipart/form-data; boundary=x", options)) {
            decoder.feed(Unpooled.wrappedBuffer(body));
            StringBuilder data = new StringBuilder();
            for (; ; ) {
                switch (decoder.next()) {
                    case DATA -> data.append(decoder.data().toString(StandardCharsets.ISO_8859_1));
                    case PART_END -> {
                        parts.add(SettingCase.shown(decoder.name(), decoder.filename(), data.toString()));
                        data.setLength(0);
                    }
                    case NEED_INPUT -> decoder.finish();
                    case END -> {
                        return String.join(" ", parts);
                    }
                    default -> {}
                }
            }
        }
    }

    // ---- forms

    private String outcome(Setting setting, Entrance entrance, @Nullable String text, byte[] body) throws Exception {
        if (entrance == Entrance.INIT_PARAMETER) {
            SluiceFilter filter = new SluiceFilter();
            String[] given = text == null ? new String[0] : new String[] {setting.key(), text};
            filter.init(FilterParametersTest.config(directory.resolve("spool"), given));
            return asked(setting, filter, body);
        }
        SpoolDirectory.Builder spool = SpoolDirectory.builder(directory.resolve("spool"));
        MemoryBudget memory = MemoryBudget.of(1 << 20);
        if (text != null && setting.scope() == Scope.SPOOL) {
            spool.set(setting, text);
        } else if (setting == Setting.MEMORY_BUDGET_BYTES && text != null) {
            memory = MemoryBudget.parse(text);
        }
        try (SpoolDirectory open = spool.open()) {
            FormOptions.Builder builder = FormOptions.builder(open, memory);
            if (text != null && (setting.scope() == Scope.BODY || setting.scope() == Scope.FORM)) {
                builder.set(setting, text);
            }
            FormOptions options = builder.build();
            if (entrance == Entrance.FORM) {
                return asked(setting, options, body);
            }
            SluiceFilter.Builder filter = SluiceFilter.builder(options);
            if (text != null && setting.scope() == Scope.FILTER) {
                filter.set(setting, text);
            }
            SluiceFilter built = filter.build();
            built.init(FilterParametersTest.config(directory.resolve("spool")));
            return asked(setting, built, body);
        }
    }

    private static String asked(Setting setting, SluiceFilter filter, byte[] body) throws IOException {
        try {
            return switch (setting) {
                case PARSE -> filter.settings().eager() ? "eager" : "lazy";
                case REFUSE_OTHER_MULTIPART -> String.valueOf(filter.settings().rejectsOther());
                case SERVE_DELETE -> filter.settings().methods().toString();
                case LOCATION ->
                    String.valueOf(
                            Objects.requireNonNull(filter.service().location).getFileName());
                default -> asked(setting, filter.service().forms.options(), body);
            };
        } finally {
            filter.destroy();
        }
    }

    private static String asked(Setting setting, FormOptions options, byte[] body) throws IOException {
        if (setting == Setting.DIRECTORY) {
            return String.valueOf(
                    Objects.requireNonNull(options.spool()).path().getParent().getFileName());
        }
        if (setting == Setting.MEMORY_BUDGET_BYTES && body.length == 0) {
            return options.memory().open().tryReserve(Long.MAX_VALUE) ? "any" : "some";
        }
        if (setting.scope() == Scope.FORM && body.length == 0) {
            return switch (setting) {
                case MAX_DRAIN_BYTES -> drained(options);
                case MAX_SINK_WAIT -> stalled(options);
                default -> waited(options);
            };
        }
        try (MultipartForm form =
                Forms.of(options).read(new ByteArrayInputStream(body), "multipart/form-data; boundary=x")) {
            List<String> parts = new ArrayList<>();
            for (FormPart part : form.parts()) {
                String kept = part.isInMemory() ? "" : " in a file";
                parts.add(SettingCase.shown(part.name(), part.filename(), part.text()) + kept);
            }
            return String.join(" ", parts);
        }
    }

    private static FormSource source(String contentType) {
        return new FormSource() {
            @Override
            public FormHead head() {
                return new FormHead(contentType, 100, false);
            }

            @Override
            public void wanted() {}

            @Override
            public void resume(Runnable work) {
                work.run();
            }
        };
    }

    private static String stalled(FormOptions options) {
        FormOptions stuck = options.toBuilder()
                .decider(part -> PartDecision.to(new GatedSink().shut()))
                .build();
        FormIntake intake = Forms.of(stuck).receive(source("multipart/form-data; boundary=x"), stuck);
        intake.offer(Unpooled.copiedBuffer(
                "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nv", StandardCharsets.US_ASCII));
        intake.checkPace(System.nanoTime() + TimeUnit.SECONDS.toNanos(30));
        boolean over = intake.isOver();
        intake.abort(new CancellationException());
        return over ? "waits less than 30 s for a sink" : "waits 30 s for a sink";
    }

    private static String drained(FormOptions options) {
        long demand = Forms.of(options)
                .receive(source("multipart/mixed; boundary=x"), options)
                .demand();
        // A positive demand includes one byte beyond the limit, by which the form detects a longer body.
        return demand > 0 ? "reads " + (demand - 1) + " more" : "reads no more";
    }

    /** {@return how long a client may pause after it has sent 240 bytes at once} */
    private static String waited(FormOptions options) {
        ClientPace pace = options.newPace();
        if (pace == null) {
            return "waits";
        }
        pace.received(240);
        return "waits " + Math.round(pace.patience() / 1e6) + " ms";
    }
}
