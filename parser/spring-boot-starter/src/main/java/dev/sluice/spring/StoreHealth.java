package dev.sluice.spring;

import dev.sluice.s3.ObjectStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The checks of the store at the start of the application and for the health indicator. */
final class StoreHealth {
    static final String ENABLED = "management.health.sluice-s3.enabled";

    /** Has the effect of Boot's {@code ConditionalOnEnabledHealthIndicator}, which is in different packages in Boot 3 and 4. */
    static final String CONDITION =
            "'${" + ENABLED + ":${management.health.defaults.enabled:true}}'.equalsIgnoreCase('true')";

    private static final Duration MAX_WAIT = Duration.ofSeconds(10);

    private StoreHealth() {}

    /**
     * {@return the reason why the store cannot be used, or empty if the store responds} Makes one request: it lists a
     * prefix that has no objects.
     */
    static Optional<Exception> check(ObjectStore store, S3Properties properties) {
        return failure(store.list(properties.prefix() + ".health/", null), MAX_WAIT, properties);
    }

    /** {@return the failure of a check, or empty if it succeeds} Blocks for at most {@code limit}. */
    static Optional<Exception> failure(CompletableFuture<?> check, Duration limit, S3Properties properties) {
        try {
            check.get(limit.toMillis(), TimeUnit.MILLISECONDS);
            return Optional.empty();
        } catch (ExecutionException e) {
            return Optional.of(StoreStartException.of(properties.address(), e.getCause() == null ? e : e.getCause()));
        } catch (TimeoutException e) {
            return Optional.of(StoreStartException.of(properties.address(), e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(e);
        } finally {
            check.cancel(true);
        }
    }
}
