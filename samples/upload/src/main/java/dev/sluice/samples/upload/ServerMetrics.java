package dev.sluice.samples.upload;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MemoryBudget;
import dev.sluice.samples.report.ErrorResponse;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/** The server's metrics. Thread-safe. */
final class ServerMetrics implements FormMetrics, AutoCloseable {
    /** The ways in which a request with a body can end. */
    enum Outcome {
        DONE,
        REFUSED,
        ABORTED,
        FAILED
    }

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final AtomicLong active = new AtomicLong();

    ServerMetrics(PooledByteBufAllocator allocator, MemoryBudget memory) {
        Gauge.builder("sluice.bytes.in.flight", memory, MemoryBudget::used)
                .description("Bytes of memory held by bodies being received")
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

    private void count(double by, String name, String description, String... tags) {
        Counter.builder(name)
                .description(description)
                .tags(tags)
                .register(registry)
                .increment(by);
    }

    void started() {
        active.incrementAndGet();
    }

    void ended(String route, Outcome outcome) {
        active.decrementAndGet();
        ended(route, outcome, 1);
    }

    private void ended(String route, Outcome outcome, int count) {
        String word = outcome.name().toLowerCase(Locale.ROOT);
        count(count, "sluice.uploads", "Requests with a body, by outcome", "route", route, "outcome", word);
    }

    @Override
    public void bodyReceived(int bytes) {
        count(bytes, "sluice.bytes", "Bytes of multipart bodies received");
    }

    @Override
    public void formEnded(FormSummary summary) {
        String description = "Parts received completely";
        count(summary.files(), "sluice.parts", description, "type", "file");
        count(summary.parts() - summary.files(), "sluice.parts", description, "type", "field");
    }

    void rejected(ErrorResponse error) {
        count(1, "sluice.refusals", "Error responses, by reason", "reason", error.reason());
    }

    /** {@return all metrics in Prometheus' text format} */
    String scrape() {
        return registry.scrape();
    }

    @Override
    public void close() {
        registry.close();
    }
}
