package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class StoreLifecycleTest {
    private final S3Properties properties = new Binder(new MapConfigurationPropertySource(Map.of(
                    "sluice.s3.bucket", "uploads",
                    "sluice.s3.check-at-start", "false",
                    "sluice.s3.sweep-interval", "1h")))
            .bind(S3Properties.PREFIX, S3Properties.class)
            .get();
    private final List<CompletableFuture<Void>> pauses = new ArrayList<>();
    private int sweeps;

    private Object call(String method) {
        return switch (method) {
            case "after" -> {
                CompletableFuture<Void> pause = new CompletableFuture<>();
                pauses.add(pause);
                yield pause;
            }
            case "list" -> { // the first call of each sweep, which fails
                sweeps++;
                yield CompletableFuture.failedFuture(new IOException("the test has no store"));
            }
            case "executor" -> (Executor) Runnable::run;
            case "metrics" -> new StoreMetrics() {};
            default -> throw new UnsupportedOperationException(method);
        };
    }

    /** Spring stops and starts an application for a checkpoint, and between the tests that share it. */
    @Test
    void stoppedAndStarted_keepsOneScheduleOfSweeps() {
        ObjectStore store = (ObjectStore) Proxy.newProxyInstance(
                ObjectStore.class.getClassLoader(),
                new Class<?>[] {ObjectStore.class},
                (proxy, method, arguments) -> call(method.getName()));
        S3Sinks sinks = S3Sinks.builder(store, MemoryBudget.unlimited()).build();
        StoreLifecycle lifecycle = new StoreLifecycle(store, sinks, properties);
        for (int i = 0; i < 3; i++) {
            lifecycle.start();
            assertTrue(lifecycle.isRunning());
            lifecycle.stop();
        }
        lifecycle.start();
        assertEquals(4, pauses.size());
        List.copyOf(pauses).forEach(pause -> pause.complete(null));
        assertEquals(1, sweeps);
        assertEquals(5, pauses.size(), "pauses, including the pause before the next sweep");
    }

    @Test
    void check_thatTimesOut_isCancelled() {
        CompletableFuture<Void> check = new CompletableFuture<>();
        Exception failure =
                StoreHealth.failure(check, Duration.ofMillis(1), properties).orElseThrow();
        assertEquals("Files cannot be stored in the bucket uploads: it does not respond.", failure.getMessage());
        assertTrue(check.isCancelled());
    }
}
