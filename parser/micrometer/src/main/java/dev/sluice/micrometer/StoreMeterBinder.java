package dev.sluice.micrometer;

import dev.sluice.form.StoreMetrics;
import io.micrometer.core.instrument.Counter;
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

/**
 * Micrometer meters for sinks that write to an object store. Pass the binder to {@code S3ObjectStore.Builder.metrics} of
 * {@code sluice-s3}.
 *
 * <table>
 * <caption>The meters</caption>
 * <tr><th>name</th><th>type, unit</th><th>meaning</th></tr>
 * <tr><td>{@code sluice.store.retries}</td><td>counter</td><td>retried requests, by {@code cause}: a {@link
 * dev.sluice.form.StoreMetrics.Cause} in lower case</td></tr>
 * <tr><td>{@code sluice.store.waits}</td><td>timer</td><td>time that forms waited for memory, by {@code admitted}:
 * {@code false} if the form was rejected or ended</td></tr>
 * <tr><td>{@code sluice.store.sending.segments}</td><td>gauge</td><td>request bodies being sent</td></tr>
 * <tr><td>{@code sluice.store.sending}</td><td>gauge, bytes</td><td>memory of the request bodies being sent</td></tr>
 * <tr><td>{@code sluice.store.aborts}</td><td>counter</td><td>aborted multipart uploads</td></tr>
 * <tr><td>{@code sluice.store.swept}</td><td>counter</td><td>uploads and objects removed by sweeps, by {@code type}:
 * {@code upload} or {@code object}</td></tr>
 * </table>
 *
 * <p>Like Micrometer's own binders, this one is weakly referenced by the registry. The store keeps it reachable.
 *
 * <p>Thread-safe. Only the two gauges include events before {@link #bindTo}.
 */
public final class StoreMeterBinder implements MeterBinder, StoreMetrics {
    private final Tags tags;
    private final AtomicLong segments = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final List<Meters> bound = new CopyOnWriteArrayList<>();

    private StoreMeterBinder(Tag... tags) {
        this.tags = Tags.of(tags);
    }

    /**
     * {@return a binder}
     *
     * @param tags the tags of all meters; use different tags for several binders in one registry
     */
    public static StoreMeterBinder of(Tag... tags) {
        return new StoreMeterBinder(tags);
    }

    /** The meters of one registry. */
    private static final class Meters {
        private final MeterRegistry registry;
        private final Tags tags;
        private final Map<Cause, Counter> retries = new EnumMap<>(Cause.class);
        private final Timer admitted;
        private final Timer refused;
        private final Counter aborts;
        private final Counter uploads;
        private final Counter objects;

        Meters(MeterRegistry registry, Tags tags) {
            this.registry = registry;
            this.tags = tags;
            for (Cause cause : Cause.values()) {
                String name = cause.name().toLowerCase(Locale.ROOT);
                retries.put(cause, counter("sluice.store.retries", "Retried requests", tags.and("cause", name)));
            }
            this.admitted = waits("true");
            this.refused = waits("false");
            this.aborts = counter("sluice.store.aborts", "Aborted multipart uploads", tags);
            this.uploads = swept("upload");
            this.objects = swept("object");
        }

        private Timer waits(String admitted) {
            return Timer.builder("sluice.store.waits")
                    .description("Time that forms waited for memory")
                    .tags(tags)
                    .tag("admitted", admitted)
                    .register(registry);
        }

        private Counter swept(String type) {
            return counter("sluice.store.swept", "Uploads and objects removed by sweeps", tags.and("type", type));
        }

        private Counter counter(String name, String description, Tags tagged) {
            return Counter.builder(name).description(description).tags(tagged).register(registry);
        }
    }

    /** Registers the meters. Call this once for each registry. */
    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("sluice.store.sending.segments", segments, AtomicLong::get)
                .description("Request bodies being sent")
                .tags(tags)
                .register(registry);
        Gauge.builder("sluice.store.sending", bytes, AtomicLong::get)
                .description("Memory of the request bodies being sent")
                .baseUnit("bytes")
                .tags(tags)
                .register(registry);
        bound.add(new Meters(registry, tags));
    }

    @Override
    public void retried(Cause cause) {
        bound.forEach(
                meters -> Objects.requireNonNull(meters.retries.get(cause)).increment());
    }

    @Override
    public void waited(long nanos, boolean admitted) {
        bound.forEach(meters -> (admitted ? meters.admitted : meters.refused).record(nanos, TimeUnit.NANOSECONDS));
    }

    @Override
    public void sending(int moreSegments, long moreBytes) {
        segments.addAndGet(moreSegments);
        bytes.addAndGet(moreBytes);
    }

    @Override
    public void aborted() {
        bound.forEach(meters -> meters.aborts.increment());
    }

    @Override
    public void swept(int uploads, int objects) {
        bound.forEach(meters -> {
            meters.uploads.increment(uploads);
            meters.objects.increment(objects);
        });
    }
}
