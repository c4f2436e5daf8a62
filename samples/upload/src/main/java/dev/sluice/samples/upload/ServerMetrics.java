package dev.sluice.samples.upload;

import dev.sluice.samples.report.ErrorAnswer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** What the server counts. Thread-safe. */
final class ServerMetrics implements AutoCloseable {
    /** How a request with a body ended. */
    enum Outcome {
        DONE,
        REFUSED,
        ABORTED,
        FAILED
    }

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Counter bytes = Counter.builder("sluice.bytes")
            .description("Bytes of multipart bodies received")
            .register(registry);
    private final Counter files = parts("file");
    private final Counter fields = parts("field");
    private final AtomicLong bytesInFlight = new AtomicLong();
    private final AtomicLong active = new AtomicLong();

    ServerMetrics(PooledByteBufAllocator allocator) {
        Gauge.builder("sluice.bytes.in.flight", bytesInFlight, AtomicLong::get)
                .description("Bytes received and neither written nor released yet")
                .register(registry);
        Gauge.builder("sluice.uploads.active", active, AtomicLong::get)
                .description("Bodies being received")
                .register(registry);
        new NettyAllocatorMetrics(allocator).bindTo(registry);
        for (Outcome outcome : Outcome.values()) {
            ended("upload", outcome, 0);
            ended("inspect", outcome, 0);
        }
    }

    private Counter parts(String type) {
        return Counter.builder("sluice.parts")
                .description("Parts of uploads received to their end")
                .tag("type", type)
                .register(registry);
    }

    void started() {
        active.incrementAndGet();
    }

    void ended(String route, Outcome outcome) {
        active.decrementAndGet();
        ended(route, outcome, 1);
    }

    private void ended(String route, Outcome outcome, int count) {
        Counter.builder("sluice.uploads")
                .description("Requests with a multipart body, by how they ended")
                .tag("route", route)
                .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
                .register(registry)
                .increment(count);
    }

    void part(boolean file) {
        (file ? files : fields).increment();
    }

    void received(int count) {
        bytes.increment(count);
    }

    void inFlight(long change) {
        bytesInFlight.addAndGet(change);
    }

    void refused(ErrorAnswer error) {
        Counter.builder("sluice.refusals")
                .description("Requests answered with an error, by its reason")
                .tag("reason", error.reason())
                .register(registry)
                .increment();
    }

    /** {@return all of it in Prometheus' text format} */
    String scrape() {
        return registry.scrape();
    }

    @Override
    public void close() {
        registry.close();
    }
}
