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
 * Counts forms, while they stream and when they have ended, and shows what they hold of the memory and of the spool of
 * the process.
 *
 * {@snippet file="dev/sluice/micrometer/FormMeterBinderTest.java" region="meters"}
 *
 * <table>
 * <caption>The meters</caption>
 * <tr><th>name</th><th>type, unit</th><th>what</th></tr>
 * <tr><td>{@code sluice.forms}</td><td>timer</td><td>forms that ended, and how long they took, by {@code outcome} and
 * {@code reason}</td></tr>
 * <tr><td>{@code sluice.forms.active}</td><td>gauge</td><td>forms that have started and not ended</td></tr>
 * <tr><td>{@code sluice.forms.received}</td><td>counter, bytes</td><td>bytes of bodies, counted as they come</td></tr>
 * <tr><td>{@code sluice.forms.body}</td><td>summary, bytes</td><td>the size of bodies, as far as they were read</td></tr>
 * <tr><td>{@code sluice.forms.parts}</td><td>counter</td><td>complete parts, by {@code type}: {@code file} or
 * {@code field}</td></tr>
 * <tr><td>{@code sluice.forms.deviations}</td><td>counter</td><td>oddities accepted and reported, by {@code
 * kind}</td></tr>
 * <tr><td>{@code sluice.forms.memory.peak}</td><td>summary, bytes</td><td>the most that each form held in memory</td></tr>
 * <tr><td>{@code sluice.forms.spilled}</td><td>summary, bytes</td><td>what each form that spilled kept in files</td></tr>
 * <tr><td>{@code sluice.forms.spilled.parts}</td><td>counter</td><td>parts that went to a file</td></tr>
 * <tr><td>{@code sluice.memory.used}, {@code .max}</td><td>gauges, bytes</td><td>the {@link MemoryBudget}</td></tr>
 * <tr><td>{@code sluice.memory.refusals}</td><td>counter</td><td>reservations that it refused</td></tr>
 * <tr><td>{@code sluice.spool.files}</td><td>gauge</td><td>files in the {@link SpoolDirectory} now</td></tr>
 * <tr><td>{@code sluice.spool.used}, {@code .max}</td><td>gauges, bytes</td><td>its bytes and its quota</td></tr>
 * <tr><td>{@code sluice.spool.written}</td><td>counter, bytes</td><td>bytes written in all</td></tr>
 * <tr><td>{@code sluice.spool.swept}</td><td>gauge</td><td>files of killed processes swept at its start</td></tr>
 * <tr><td>{@code sluice.spool.failed.deletes}</td><td>counter</td><td>deletes that failed and are tried again</td></tr>
 * </table>
 *
 * <p>The values of {@code outcome} are those of {@link FormSummary.Outcome}, of {@code reason} those of {@link
 * dev.sluice.MultipartException.Reason} or {@code none}, of {@code kind} those of {@link dev.sluice.Deviation}, or {@code
 * further} for what a form has more of than 100, all in lower case: nothing in a tag comes from a client. What is
 * unlimited has a {@code max} of positive infinity. As with Micrometer's own binders a registry does not keep the
 * memory, the spool and this alive: the options of the forms do.
 *
 * <p>Thread-safe. What ends or comes before {@link #bindTo} is not counted, but for active forms.
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
     * @param tags of all meters; what tells this binder from others at the same registry
     */
    public static FormMeterBinder of(SpoolDirectory spool, MemoryBudget memory, Tag... tags) {
        return new FormMeterBinder(Objects.requireNonNull(spool, "spool"), memory, tags);
    }

    /**
     * {@return a binder for forms without files}
     *
     * @param tags of all meters; what tells this binder from others at the same registry
     */
    public static FormMeterBinder inMemory(MemoryBudget memory, Tag... tags) {
        return new FormMeterBinder(null, memory, tags);
    }

    /** What one registry is told. */
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
            String reason = form.reason() == null ? "none" : form.reason().name();
            Timer.builder("sluice.forms")
                    .description("Forms that ended, and how long they took")
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

    /** Registers the meters; once for each registry. */
    @Override
    public void bindTo(MeterRegistry registry) {
        Meters meters = new Meters(registry, tags);
        meters.gauge("sluice.forms.active", null, "Forms that have started and not ended", active, AtomicLong::get);
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
        meters.count("sluice.spool.written", BYTES, "Bytes written in all", of, SpoolDirectory::writtenBytes);
        meters.gauge("sluice.spool.swept", null, "Files of killed processes swept", of, SpoolDirectory::sweptFiles);
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
            meters.received(bytes);
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
