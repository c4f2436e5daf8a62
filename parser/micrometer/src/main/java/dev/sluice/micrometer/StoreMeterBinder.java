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
 * Shows what sinks into a store on the network do: {@code S3ObjectStore.Builder.metrics} of {@code sluice-s3} takes it.
 *
 * <table>
 * <caption>The meters</caption>
 * <tr><th>name</th><th>type, unit</th><th>what</th></tr>
 * <tr><td>{@code sluice.store.retries}</td><td>counter</td><td>requests made again, by {@code cause}: those of {@link
 * dev.sluice.form.StoreMetrics.Cause}, in lower case</td></tr>
 * <tr><td>{@code sluice.store.waits}</td><td>timer</td><td>how long forms waited for memory, by {@code admitted}: {@code
 * true} or {@code false}</td></tr>
 * <tr><td>{@code sluice.store.sending.segments}</td><td>gauge</td><td>bodies on their way to the store</td></tr>
 * <tr><td>{@code sluice.store.sending}</td><td>gauge, bytes</td><td>what they hold</td></tr>
 * <tr><td>{@code sluice.store.aborts}</td><td>counter</td><td>uploads that were ended, not to be objects</td></tr>
 * <tr><td>{@code sluice.store.swept}</td><td>counter</td><td>what sweeps removed, by {@code type}: {@code upload} or
 * {@code object}</td></tr>
 * </table>
 *
 * <p>Thread-safe. What happens before {@link #bindTo} is not counted, but for what is on its way. As with Micrometer's own
 * binders a registry does not keep this alive: the store does.
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
     * @param tags of all meters; what tells this binder from others at the same registry
     */
    public static StoreMeterBinder of(Tag... tags) {
        return new StoreMeterBinder(tags);
    }

    /** What one registry is told. */
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
                retries.put(cause, counter("sluice.store.retries", "Requests made again", tags.and("cause", name)));
            }
            this.admitted = waits("true");
            this.refused = waits("false");
            this.aborts = counter("sluice.store.aborts", "Uploads that were ended, not to be objects", tags);
            this.uploads = swept("upload");
            this.objects = swept("object");
        }

        private Timer waits(String admitted) {
            return Timer.builder("sluice.store.waits")
                    .description("How long forms waited for memory")
                    .tags(tags)
                    .tag("admitted", admitted)
                    .register(registry);
        }

        private Counter swept(String type) {
            return counter("sluice.store.swept", "What sweeps removed", tags.and("type", type));
        }

        private Counter counter(String name, String description, Tags tagged) {
            return Counter.builder(name).description(description).tags(tagged).register(registry);
        }
    }

    /** Registers the meters; once for each registry. */
    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("sluice.store.sending.segments", segments, AtomicLong::get)
                .description("Bodies on their way to the store")
                .tags(tags)
                .register(registry);
        Gauge.builder("sluice.store.sending", bytes, AtomicLong::get)
                .description("What bodies on their way to the store hold")
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
