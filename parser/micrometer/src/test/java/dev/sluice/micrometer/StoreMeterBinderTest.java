package dev.sluice.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.form.StoreMetrics.Cause;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Statistic;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The meters that an object store records. */
class StoreMeterBinderTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final StoreMeterBinder meters = StoreMeterBinder.of(Tag.of("store", "one"));

    /** {@return the meters that are not 0, as {@code name tag=value.. statistic value}} */
    private Set<String> seen() {
        Set<String> seen = new TreeSet<>();
        for (Meter meter : registry.getMeters()) {
            StringBuilder name = new StringBuilder(meter.getId().getName());
            meter.getId()
                    .getTags()
                    .forEach(tag ->
                            name.append(' ').append(tag.getKey()).append('=').append(tag.getValue()));
            for (Measurement each : meter.measure()) {
                if (each.getValue() != 0 && each.getStatistic() != Statistic.MAX) {
                    seen.add(name + " " + each.getStatistic() + ' ' + each.getValue());
                }
            }
        }
        return seen;
    }

    @Test
    void boundRegistry_recordsEvents() {
        meters.sending(1, 100);
        meters.bindTo(registry);
        meters.retried(Cause.BUSY);
        meters.retried(Cause.BUSY);
        meters.waited(TimeUnit.SECONDS.toNanos(2), true);
        meters.waited(TimeUnit.SECONDS.toNanos(3), false);
        meters.sending(1, 50);
        meters.sending(-1, -100);
        meters.sending(1, 7);
        meters.aborted();
        meters.swept(3, 4);
        assertEquals(
                Set.of(
                        "sluice.store.retries cause=busy store=one COUNT 2.0",
                        "sluice.store.waits admitted=true store=one COUNT 1.0",
                        "sluice.store.waits admitted=true store=one TOTAL_TIME 2.0",
                        "sluice.store.waits admitted=false store=one COUNT 1.0",
                        "sluice.store.waits admitted=false store=one TOTAL_TIME 3.0",
                        "sluice.store.sending.segments store=one VALUE 2.0",
                        "sluice.store.sending store=one VALUE 57.0",
                        "sluice.store.aborts store=one COUNT 1.0",
                        "sluice.store.swept store=one type=upload COUNT 3.0",
                        "sluice.store.swept store=one type=object COUNT 4.0"),
                seen());
    }

    @Test
    void eventsBeforeBinding_areNotCounted() {
        meters.retried(Cause.SERVER);
        assertEquals(Set.of(), seen());
        meters.bindTo(registry);
        assertEquals(Set.of(), seen(), "events before bindTo are counted");
    }
}
