package dev.sluice.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Deviation;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.FormSummary;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.LeakCheck;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The meters that forms record. */
@ExtendWith(LeakCheck.class)
class FormMeterBinderTest {
    private static final String TYPE = "multipart/form-data; boundary=x";

    /** A source whose bytes the test offers. */
    private static final FormSource SOURCE = new FormSource() {
        @Override
        public FormHead head() {
            return FormHead.of(TYPE);
        }

        @Override
        public void wanted() {}

        @Override
        public void resume(Runnable work) {}
    };

    @TempDir
    Path root;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final MemoryBudget memory = MemoryBudget.of(100_000);
    private SpoolDirectory spool;
    private FormMeterBinder meters;
    private FormOptions metered;

    @BeforeEach
    void bind() throws IOException {
        spool = SpoolDirectory.builder(root)
                .keepFreeBytes(0)
                .maxSpoolBytes(10_000)
                .open();
        // @start region="meters"
        meters = FormMeterBinder.of(spool, memory);
        meters.bindTo(registry);
        metered = FormOptions.builder(spool, memory).metrics(meters).build();
        // @end
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        assertEquals(0, gauge("sluice.forms.active"));
        assertEquals(0, gauge("sluice.memory.used"));
        assertEquals(0, gauge("sluice.spool.files"));
        assertEquals(0, gauge("sluice.spool.used"));
        spool.close();
    }

    private FormOptions.Builder options() {
        return metered.toBuilder().spillThreshold(100);
    }

    private static byte[] body(String... parts) {
        StringBuilder body = new StringBuilder();
        for (String part : parts) {
            boolean file = part.length() > 5;
            body.append("--x\r\nContent-Disposition: form-data; name=\"a\"" + (file ? "; filename=\"f\"" : ""))
                    .append("\r\n\r\n" + part + "\r\n");
        }
        return bytes(body + "--x--\r\n");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static MultipartForm read(byte[] body, FormOptions options) throws IOException {
        return Forms.of(options).read(new ByteArrayInputStream(body), TYPE);
    }

    private double gauge(String name) {
        return registry.get(name).gauge().value();
    }

    private double counter(String name, String... tags) {
        return registry.get(name).tags(tags).counter().count();
    }

    private Timer ended(FormSummary.Outcome outcome, String reason) {
        return registry.get("sluice.forms")
                .tags("outcome", outcome.name().toLowerCase(Locale.ROOT), "reason", reason)
                .timer();
    }

    private void assertEnded(long forms, FormSummary.Outcome outcome, String reason) {
        assertEquals(forms, ended(outcome, reason).count());
    }

    @Test
    void hdrHistogram_isNotOnTheClassPath() {
        assertThrows(ClassNotFoundException.class, () -> Class.forName("org.HdrHistogram.Histogram"));
    }

    /** The metrics that a Prometheus server sees after an accepted and a rejected form, each with its labels. */
    private Map<String, Map<String, Set<String>>> exported() throws IOException {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        meters.bindTo(prometheus);
        read(body("1"), options().build()).close();
        FormOptions small = options().maxPartBytes(2).build();
        assertThrows(MultipartException.class, () -> read(body("123"), small));
        Map<String, Map<String, Set<String>>> metrics = new HashMap<>();
        Pattern.compile("^(\\w+)(?:\\{(.*)\\})? \\S+$", Pattern.MULTILINE)
                .matcher(prometheus.scrape())
                .results()
                .forEach(line -> {
                    Map<String, Set<String>> labels = metrics.computeIfAbsent(line.group(1), name -> new HashMap<>());
                    Pattern.compile("(\\w+)=\"(\\w*)\"")
                            .matcher(String.valueOf(line.group(2)))
                            .results()
                            .forEach(label -> labels.computeIfAbsent(label.group(1), name -> new HashSet<>())
                                    .add(label.group(2)));
                });
        return metrics;
    }

    @Test
    void queriesOfGuide_useExportedMetricsAndLabels() throws IOException {
        Map<String, Map<String, Set<String>>> metrics = exported();
        assertEquals(
                Set.of("completed", "limit_exceeded"),
                metrics.get("sluice_forms_seconds_count").get("outcome"));
        List<String> outcomes = Stream.of(FormSummary.Outcome.values())
                .map(outcome -> outcome.name().toLowerCase(Locale.ROOT))
                .toList();
        Path page = Path.of(System.getProperty("sluice.rootDir", "../.."), "parser/docs/operations.md");
        Matcher block = Pattern.compile("```promql\\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(page));
        assertTrue(block.find());
        List<String> queries = block.group(1)
                .lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
        assertEquals(5, queries.size(), queries::toString);
        for (String query : queries) {
            Set<String> labels = new HashSet<>();
            Matcher metric = Pattern.compile("\\b(sluice_\\w+)(?:\\{(\\w+)[!=~]+\"([^\"]+)\"\\})?")
                    .matcher(query);
            for (boolean more = metric.find(); more; more = metric.find()) {
                assertTrue(metrics.containsKey(metric.group(1)), () -> query + ": " + metrics.keySet());
                labels.addAll(metrics.get(metric.group(1)).keySet());
                if (metric.group(2) != null) {
                    assertEquals("outcome", metric.group(2), query);
                    assertTrue(outcomes.containsAll(List.of(metric.group(3).split("\\|"))), query);
                }
            }
            Pattern.compile("by \\(([^)]*)\\)")
                    .matcher(query)
                    .results()
                    .forEach(by ->
                            assertTrue(labels.containsAll(List.of(by.group(1).split(", "))), query));
        }
    }

    @Test
    void completeForm_recordsPartsAndBytes() throws IOException {
        byte[] body = body("1", "22", "f".repeat(50), "g".repeat(1000), "h".repeat(2000));
        try (MultipartForm form = read(body, options().build())) {
            assertEquals(5, form.parts().size());
            assertEquals(2, gauge("sluice.spool.files"));
            assertEquals(2 * 4096, gauge("sluice.spool.used")); // a block each
            assertEquals(memory.used(), gauge("sluice.memory.used"));
            assertTrue(gauge("sluice.memory.used") > 5 * 512);
        }
        Timer timer = ended(FormSummary.Outcome.COMPLETED, "none");
        assertEquals(1, timer.count());
        assertTrue(timer.totalTime(TimeUnit.NANOSECONDS) > 0);
        assertEquals(body.length, counter("sluice.forms.received"));
        assertEquals(body.length, registry.get("sluice.forms.body").summary().totalAmount());
        assertEquals(2, counter("sluice.forms.parts", "type", "field"));
        assertEquals(3, counter("sluice.forms.parts", "type", "file"));
        assertEquals(2, counter("sluice.forms.spilled.parts"));
        assertEquals(3000, registry.get("sluice.forms.spilled").summary().totalAmount());
        assertTrue(registry.get("sluice.forms.memory.peak").summary().max() > 5 * 512);
        assertEquals(
                3000, registry.get("sluice.spool.written").functionCounter().count());
    }

    @Test
    void formWithoutFiles_isNotInTheSpilledSummary() throws IOException {
        read(body("1"), options().build()).close();
        assertEquals(0, registry.get("sluice.forms.spilled").summary().count());
        assertEquals(1, registry.get("sluice.forms.body").summary().count());
    }

    @Test
    void activeForms_recordBytesWhileTheyStream() throws IOException {
        byte[] body = body("1");
        FormIntake first = Forms.of(options().build()).receive(SOURCE, options().build());
        FormIntake second =
                Forms.of(options().build()).receive(SOURCE, options().build());
        assertEquals(2, gauge("sluice.forms.active"));
        first.offer(Unpooled.copiedBuffer(body, 0, 10));
        assertEquals(10, counter("sluice.forms.received"));
        second.offer(Unpooled.copiedBuffer(body, 0, 4));
        first.offer(Unpooled.copiedBuffer(body, 10, body.length - 10));
        assertEquals(body.length + 4, counter("sluice.forms.received"));
        assertTrue(gauge("sluice.memory.used") > 0);
        first.finish();
        first.completion().thenAccept(MultipartForm::close);
        assertEquals(1, gauge("sluice.forms.active"));
        second.abort(new CancellationException());
        assertEnded(1, FormSummary.Outcome.COMPLETED, "none");
        assertEnded(1, FormSummary.Outcome.ABORTED, "none");
        assertEquals(2, registry.get("sluice.forms").timers().size());
    }

    @Test
    void clientError_isCountedByReason() {
        FormOptions options = options().maxPartBytes(2).build();
        assertThrows(MultipartException.class, () -> read(body("123"), options));
        assertThrows(MultipartException.class, () -> read(bytes("--x\r\n"), options));
        assertThrows(MultipartException.class, () -> read(bytes("--x\r\n\r\n\r\n--x--\r\n"), options));
        assertEnded(1, FormSummary.Outcome.LIMIT_EXCEEDED, "part_too_large");
        assertEnded(1, FormSummary.Outcome.TRUNCATED, "truncated");
        assertEnded(1, FormSummary.Outcome.MALFORMED, "missing_content_disposition");
    }

    @Test
    void rejectionByServer_hasReasonTag_failureHasNone() {
        FormOptions refusing =
                options().decider(part -> PartDecision.reject(403, "no")).build();
        assertThrows(MultipartException.class, () -> read(body("1"), refusing));
        assertEnded(1, FormSummary.Outcome.REFUSED, "part_refused");
        assertThrows(
                MultipartException.class,
                () -> read(body("q".repeat(12_000)), options().build()));
        assertEnded(1, FormSummary.Outcome.OVERLOADED, "spool_full");
        InputStream broken = InputStream.nullInputStream();
        assertThrows(IOException.class, () -> {
            broken.close();
            Forms.of(options().build()).read(broken, TYPE);
        });
        assertEnded(1, FormSummary.Outcome.ABORTED, "none");
    }

    @Test
    void formRejectedAtItsHead_memoryFull_isCounted() {
        try (MemoryBudget.Account hog = memory.open()) {
            assertTrue(hog.tryReserve(70_000));
            for (int i = 0; i < 3; i++) {
                FormOptions large = options().maxHeaderBytesPerPart(50_000).build();
                assertTrue(Forms.of(large).receive(SOURCE, large).isOver());
            }
        }
        assertEnded(3, FormSummary.Outcome.OVERLOADED, "memory_full");
        assertEquals(3, registry.get("sluice.memory.refusals").functionCounter().count());
    }

    @Test
    void deviations_areCountedByKind() throws IOException {
        byte[] body = bytes("preamble\r\n" + new String(body("1"), StandardCharsets.ISO_8859_1));
        try (MultipartForm form = read(body, options().build())) {
            assertEquals(1, form.deviations().size());
        }
        assertEquals(1, counter("sluice.forms.deviations", "kind", "preamble"));
        assertEquals(0, counter("sluice.forms.deviations", "kind", "epilogue"));
    }

    @Test
    void deviationsAfterTheFirst100_areCountedAsFurther() throws IOException {
        StringBuilder body = new StringBuilder("preamble\r\n");
        for (int i = 0; i < 110; i++) {
            body.append("--x\r\nContent-Disposition: form-data;\r\n name=a\r\n\r\n\r\n");
        }
        FormOptions roomy =
                FormOptions.inMemory(MemoryBudget.unlimited()).metrics(meters).build();
        read(bytes(body + "--x--\r\n"), roomy).close();
        assertEquals(1, counter("sluice.forms.deviations", "kind", "preamble"));
        assertEquals(99, counter("sluice.forms.deviations", "kind", "folded_header"));
        assertEquals(11, counter("sluice.forms.deviations", "kind", "further"));
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void reasonAndOutcome_areTagValuesInLowerCase(Reason reason) {
        for (FormSummary.Outcome outcome : FormSummary.Outcome.values()) {
            meters.formStarted();
            meters.formEnded(FormSummary.of(outcome, reason, null, null));
            assertEnded(1, outcome, reason.name().toLowerCase(Locale.ROOT));
        }
    }

    /** The table in the comment of {@link FormMeterBinder} lists the same meters. */
    @Test
    void meters_haveTheDocumentedNamesAndUnits() throws IOException {
        read(body("1"), options().build()).close();
        assertEquals(
                List.of(
                        "sluice.forms seconds",
                        "sluice.forms.active null",
                        "sluice.forms.body bytes",
                        "sluice.forms.deviations null",
                        "sluice.forms.memory.peak bytes",
                        "sluice.forms.parts null",
                        "sluice.forms.received bytes",
                        "sluice.forms.spilled bytes",
                        "sluice.forms.spilled.parts null",
                        "sluice.memory.max bytes",
                        "sluice.memory.refusals null",
                        "sluice.memory.used bytes",
                        "sluice.spool.failed.deletes null",
                        "sluice.spool.files null",
                        "sluice.spool.max bytes",
                        "sluice.spool.swept null",
                        "sluice.spool.used bytes",
                        "sluice.spool.written bytes"),
                registry.getMeters().stream()
                        .map(Meter::getId)
                        .map(id -> id.getName() + " " + id.getBaseUnit())
                        .distinct()
                        .sorted()
                        .toList());
        assertTrue(registry.getMeters().stream().allMatch(meter -> meter.getId().getDescription() != null));
        assertEquals(100_000, gauge("sluice.memory.max"));
        assertEquals(10_000, gauge("sluice.spool.max"));
        assertEquals(0, gauge("sluice.spool.swept"));
        assertEquals(
                0, registry.get("sluice.spool.failed.deletes").functionCounter().count());
    }

    @Test
    void inMemoryBinder_hasNoSpoolMeters_tagsSeparateBinders() throws IOException {
        MemoryBudget other = MemoryBudget.unlimited();
        FormMeterBinder inMemory = FormMeterBinder.inMemory(other, Tag.of("endpoint", "avatar"));
        inMemory.bindTo(registry);
        read(body("1"), FormOptions.inMemory(other).metrics(inMemory).build()).close();
        List<Meter> tagged = registry.getMeters().stream()
                .filter(meter -> "avatar".equals(meter.getId().getTag("endpoint")))
                .toList();
        assertEquals(13 + Deviation.values().length, tagged.size());
        assertTrue(tagged.stream().noneMatch(meter -> meter.getId().getName().contains("spool")));
        assertEquals(
                Double.POSITIVE_INFINITY,
                registry.get("sluice.memory.max")
                        .tags("endpoint", "avatar")
                        .gauge()
                        .value());
        assertEquals(
                1,
                registry.get("sluice.forms").tags("endpoint", "avatar").timer().count());
    }

    @Test
    void everyBoundRegistry_recordsForms() throws IOException {
        SimpleMeterRegistry second = new SimpleMeterRegistry();
        meters.bindTo(second);
        read(body("1"), options().build()).close();
        Stream.of(registry, second)
                .forEach(
                        each -> assertEquals(1, each.get("sluice.forms").timer().count()));
    }
}
