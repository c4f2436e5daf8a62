package dev.sluice.micrometer;

import dev.sluice.Deviation;
import dev.sluice.ReportedDeviation;
import dev.sluice.form.FormSummary;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** What one registry is told of forms. */
final class FormMeters {
    static final String BYTES = "bytes";

    private final MeterRegistry registry;
    private final Tags tags;
    private final Counter received;
    private final Counter files;
    private final Counter fields;
    private final Map<Deviation, Counter> deviations = new EnumMap<>(Deviation.class);
    private final Counter furtherDeviations;
    private final Counter spilledParts;
    private final DistributionSummary body;
    private final DistributionSummary memoryPeak;
    private final DistributionSummary spilled;

    FormMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        this.received = counter("sluice.forms.received", BYTES, "Bytes of bodies, counted as they come", tags);
        this.files = counter("sluice.forms.parts", null, "Complete parts", tags.and("type", "file"));
        this.fields = counter("sluice.forms.parts", null, "Complete parts", tags.and("type", "field"));
        for (Deviation kind : Deviation.values()) {
            deviations.put(kind, deviations(kind.name().toLowerCase(Locale.ROOT)));
        }
        this.furtherDeviations = deviations("further");
        this.spilledParts = counter("sluice.forms.spilled.parts", null, "Parts that went to a file", tags);
        this.body = summary("sluice.forms.body", "Size of bodies, as far as they were read");
        this.memoryPeak = summary("sluice.forms.memory.peak", "The most that each form held in memory");
        this.spilled = summary("sluice.forms.spilled", "What each form that spilled kept in files");
    }

    <T> void gauge(String name, @Nullable String unit, String description, T of, ToDoubleFunction<T> value) {
        Gauge.builder(name, of, value)
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }

    <T> void count(String name, @Nullable String unit, String description, T of, ToDoubleFunction<T> value) {
        FunctionCounter.builder(name, of, value)
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }

    private Counter counter(String name, @Nullable String unit, String description, Tags tagged) {
        return Counter.builder(name)
                .description(description)
                .baseUnit(unit)
                .tags(tagged)
                .register(registry);
    }

    private Counter deviations(String kind) {
        return counter("sluice.forms.deviations", null, "Oddities accepted and reported", tags.and("kind", kind));
    }

    private DistributionSummary summary(String name, String description) {
        return DistributionSummary.builder(name)
                .description(description)
                .baseUnit(BYTES)
                .tags(tags)
                .register(registry);
    }

    void received(int bytes) {
        received.increment(bytes);
    }

    void ended(FormSummary form) {
        Timer.builder("sluice.forms")
                .description("Forms that ended, and how long they took")
                .tags(tags)
                .tag("outcome", form.outcome().name().toLowerCase(Locale.ROOT))
                .tag(
                        "reason",
                        form.reason() == null ? "none" : form.reason().name().toLowerCase(Locale.ROOT))
                .register(registry)
                .record(form.nanos(), TimeUnit.NANOSECONDS);
        body.record(form.bodyBytes());
        files.increment(form.files());
        fields.increment(form.parts() - form.files());
        for (ReportedDeviation each : form.reported()) {
            Objects.requireNonNull(deviations.get(each.kind())).increment();
        }
        furtherDeviations.increment(form.deviations() - form.reported().size());
        memoryPeak.record(form.peakMemoryBytes());
        if (form.spilledParts() > 0) {
            spilledParts.increment(form.spilledParts());
            spilled.record(form.spilledBytes());
        }
    }
}
