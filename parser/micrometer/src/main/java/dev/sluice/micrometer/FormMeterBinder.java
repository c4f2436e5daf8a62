package dev.sluice.micrometer;

import dev.sluice.Deviation;
import dev.sluice.ReportedDeviation;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Micrometer meters for forms: received bytes, outcomes, and the use of the memory budget and the spool.
 *
 * {@snippet file="dev/sluice/micrometer/FormMeterBinderTest.java" region="meters"}
 *
 * <table>
 * <caption>The meters</caption>
 * <tr><th>name</th><th>type, unit</th><th>meaning</th></tr>
 * <tr><td>{@code sluice.forms}</td><td>timer</td><td>duration of ended forms, by {@code outcome} and {@code
 * reason}</td></tr>
 * <tr><td>{@code sluice.forms.active}</td><td>gauge</td><td>forms in progress</td></tr>
 * <tr><td>{@code sluice.forms.received}</td><td>counter, bytes</td><td>bytes of bodies, counted on arrival</td></tr>
 * <tr><td>{@code sluice.forms.body}</td><td>summary, bytes</td><td>bytes read of each body</td></tr>
 * <tr><td>{@code sluice.forms.parts}</td><td>counter</td><td>complete parts, by {@code type}: {@code file} or
 * {@code field}</td></tr>
 * <tr><td>{@code sluice.forms.deviations}</td><td>counter</td><td>deviations that were accepted and reported, by {@code
 * kind}</td></tr>
 * <tr><td>{@code sluice.forms.memory.peak}</td><td>summary, bytes</td><td>peak memory of each form</td></tr>
 * <tr><td>{@code sluice.forms.spilled}</td><td>summary, bytes</td><td>bytes in files, for each form that used files</td></tr>
 * <tr><td>{@code sluice.forms.spilled.parts}</td><td>counter</td><td>parts stored in files</td></tr>
 * <tr><td>{@code sluice.memory.used}, {@code .max}</td><td>gauges, bytes</td><td>use and size of the {@link MemoryBudget}</td></tr>
 * <tr><td>{@code sluice.memory.refusals}</td><td>counter</td><td>reservations that the budget refused</td></tr>
 * <tr><td>{@code sluice.spool.files}</td><td>gauge</td><td>files in the {@link SpoolDirectory}</td></tr>
 * <tr><td>{@code sluice.spool.used}, {@code .max}</td><td>gauges, bytes</td><td>use and quota of the spool</td></tr>
 * <tr><td>{@code sluice.spool.written}</td><td>counter, bytes</td><td>bytes written since the start</td></tr>
 * <tr><td>{@code sluice.spool.swept}</td><td>gauge</td><td>files of killed processes, removed at the start</td></tr>
 * <tr><td>{@code sluice.spool.failed.deletes}</td><td>counter</td><td>failed deletes, which are retried</td></tr>
 * </table>
 *
 * <p>Tag values are constants in lower case and never come from a client. {@code outcome} is a {@link FormSummary.Outcome}.
 * {@code reason} is a {@link dev.sluice.MultipartException.Reason} or {@code none}. {@code kind} is a {@link
 * dev.sluice.Deviation}, or {@code further} for the deviations of a form after its first 100. If a limit is switched off,
 * {@code .max} is positive infinity.
 *
 * <p>Like Micrometer's own binders, this one is weakly referenced by the registry. The form options keep the binder, the budget
 * and the spool reachable.
 *
 * <p>Thread-safe. Events of forms before {@link #bindTo} are not counted, except in the gauge of active forms. The
 * meters of the budget and the spool include earlier events.
 */
public final class FormMeterBinder implements MeterBinder, FormMetrics {
    private static final String BYTES = "bytes";

    private final MemoryBudget memory;
    private final @Nullable SpoolDirectory spool;
    private final Tags tags;
    private final AtomicLong active = new AtomicLong();
    private final List<Meters> bound = new CopyOnWriteArrayList<>();

    private FormMeterBinder(@Nullable SpoolDirectory spool, MemoryBudget memory, Tag... tags) {
        this.spool = spool;
        this.memory = Objects.requireNonNull(memory, "memory");
        this.tags = Tags.of(tags);
    }

    /**
     * {@return a binder for forms that spill to {@code spool} and charge {@code memory}}
     *
     * @param tags the tags of all meters; use different tags for several binders in one registry
     */
    public static FormMeterBinder of(SpoolDirectory spool, MemoryBudget memory, Tag... tags) {
        return new FormMeterBinder(Objects.requireNonNull(spool, "spool"), memory, tags);
    }

    /**
     * {@return a binder for forms without files}
     *
     * @param tags the tags of all meters; use different tags for several binders in one registry
     */
    public static FormMeterBinder inMemory(MemoryBudget memory, Tag... tags) {
        return new FormMeterBinder(null, memory, tags);
    }

    /** The meters of one registry. */
    private static final class Meters {
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

        Meters(MeterRegistry registry, Tags tags) {
            this.registry = registry;
            this.tags = tags;
            this.received = counter("sluice.forms.received", BYTES, "Bytes of bodies, counted on arrival", tags);
            this.files = counter("sluice.forms.parts", null, "Complete parts", tags.and("type", "file"));
            this.fields = counter("sluice.forms.parts", null, "Complete parts", tags.and("type", "field"));
            for (Deviation kind : Deviation.values()) {
                deviations.put(kind, deviations(kind.name().toLowerCase(Locale.ROOT)));
            }
            this.furtherDeviations = deviations("further");
            this.spilledParts = counter("sluice.forms.spilled.parts", null, "Parts stored in files", tags);
            this.body = summary("sluice.forms.body", "Bytes read of each body");
            this.memoryPeak = summary("sluice.forms.memory.peak", "Peak memory of each form");
            this.spilled = summary("sluice.forms.spilled", "Bytes in files, for each form that used files");
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
            return counter("sluice.forms.deviations", null, "Accepted and reported deviations", tags.and("kind", kind));
        }

        private DistributionSummary summary(String name, String description) {
            return DistributionSummary.builder(name)
                    .description(description)
                    .baseUnit(BYTES)
                    .tags(tags)
                    .register(registry);
        }

        void ended(FormSummary form) {
            String reason = form.reason() == null ? "none" : form.reason().name();
            Timer.builder("sluice.forms")
                    .description("Duration of ended forms")
                    .tags(tags)
                    .tag("outcome", form.outcome().name().toLowerCase(Locale.ROOT))
                    .tag("reason", reason.toLowerCase(Locale.ROOT))
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

    /** Registers the meters. Call this once for each registry. */
    @Override
    public void bindTo(MeterRegistry registry) {
        Meters meters = new Meters(registry, tags);
        meters.gauge("sluice.forms.active", null, "Forms in progress", active, AtomicLong::get);
        meters.gauge("sluice.memory.used", BYTES, "Bytes that forms hold", memory, MemoryBudget::used);
        meters.gauge("sluice.memory.max", BYTES, "Bytes that forms may hold", memory, of -> max(of.capacity()));
        meters.count("sluice.memory.refusals", null, "Refused reservations", memory, MemoryBudget::refusals);
        if (spool != null) {
            bind(spool, meters);
        }
        bound.add(meters);
    }

    private static void bind(SpoolDirectory of, Meters meters) {
        meters.gauge("sluice.spool.files", null, "Files in the spool", of, SpoolDirectory::files);
        meters.gauge("sluice.spool.used", BYTES, "Bytes of the quota in use", of, SpoolDirectory::bytes);
        meters.gauge("sluice.spool.max", BYTES, "Quota of the spool", of, spool -> max(spool.maxSpoolBytes()));
        meters.count("sluice.spool.written", BYTES, "Bytes written since the start", of, SpoolDirectory::writtenBytes);
        meters.gauge(
                "sluice.spool.swept",
                null,
                "Files of killed processes, removed at the start",
                of,
                SpoolDirectory::sweptFiles);
        meters.count("sluice.spool.failed.deletes", null, "Failed deletes", of, SpoolDirectory::failedDeletes);
    }

    private static double max(long limit) {
        return limit == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : limit;
    }

    @Override
    public void formStarted() {
        active.incrementAndGet();
    }

    @Override
    public void bodyReceived(int bytes) {
        for (Meters meters : bound) {
            meters.received.increment(bytes);
        }
    }

    @Override
    public void formEnded(FormSummary summary) {
        active.decrementAndGet();
        for (Meters meters : bound) {
            meters.ended(summary);
        }
    }
}
