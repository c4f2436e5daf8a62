package dev.sluice.spring;

import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/**
 * The lifecycle of the object store in an application. It starts before the web server accepts requests, and stops
 * after the web server has stopped.
 *
 * <p>{@link #start} checks the store. Afterwards {@link S3Sinks#sweep} runs at intervals, on the executor of the store.
 * The first sweep comes after a random fraction of the interval, so that the sweeps of several nodes are spread. {@link
 * #stop} waits for the forms that are still being stored or cleaned up, up to a limit.
 */
final class StoreLifecycle implements SmartLifecycle {
    private static final Log LOG = LogFactory.getLog(StoreLifecycle.class);

    /** Longer than a request takes to fail if no connection is possible: all its attempts, and the pauses between them. */
    private static final Duration MAX_CHECK = Duration.ofSeconds(30);

    private static final double JITTER = 0.1;

    private final ObjectStore store;
    private final S3Sinks sinks;
    private final S3Properties properties;
    /** Identifies the current run, so that the sweeps of an earlier run stop; null while stopped. */
    private volatile @Nullable Object run;

    StoreLifecycle(ObjectStore store, S3Sinks sinks, S3Properties properties) {
        this.store = store;
        this.sinks = sinks;
        this.properties = properties;
    }

    @Override
    public int getPhase() {
        return 0; // the phases of the web server are close to Integer.MAX_VALUE
    }

    @Override
    public boolean isRunning() {
        return run != null;
    }

    @Override
    public void start() {
        if (properties.checkAtStart()) {
            StoreHealth.failure(sinks.probe(), MAX_CHECK, properties).ifPresent(failure -> {
                throw failure instanceof StoreStartException known
                        ? known
                        : new IllegalStateException("interrupted while the object store was being checked", failure);
            });
        }
        Object started = new Object();
        run = started;
        sweepAfter(started, ThreadLocalRandom.current().nextDouble());
    }

    /**
     * Sweeps after {@code fraction} of the sweep interval, and then about once per interval, until the application
     * stops or the store is closed. Without an interval, never sweeps.
     */
    private void sweepAfter(Object started, double fraction) {
        Duration interval = properties.sweepInterval();
        if (interval == null) {
            return;
        }
        // The stage fails if the store is closed.
        store.after(Duration.ofMillis((long) Math.ceil(interval.toMillis() * fraction)))
                .thenAccept(passed -> {
                    if (run == started) {
                        sinks.sweep().whenComplete((swept, failure) -> swept(started, swept, failure));
                    }
                });
    }

    private void swept(Object started, S3Sinks.@Nullable Swept swept, @Nullable Throwable failure) {
        if (run != started) {
            return;
        } else if (failure != null) {
            LOG.warn("A sweep of " + properties.address() + " failed. It will be repeated.", failure);
        } else {
            LOG.debug("A sweep of " + properties.address() + " has ended: " + swept);
        }
        sweepAfter(started, ThreadLocalRandom.current().nextDouble(1 - JITTER, 1 + JITTER));
    }

    @Override
    public void stop() {
        run = null;
        try {
            sinks.whenIdle().get(properties.shutdownTimeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            LOG.warn("Forms are still being stored in " + properties.address() + " after "
                    + properties.shutdownTimeout().toMillis()
                    + " ms (sluice.s3.shutdown-timeout). They are abandoned, and a sweep removes them.");
        } catch (ExecutionException e) {
            LOG.warn("Waiting for the forms that are being stored in " + properties.address() + " failed.", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
