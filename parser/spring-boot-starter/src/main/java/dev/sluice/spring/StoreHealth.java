package dev.sluice.spring;

import dev.sluice.s3.ObjectStore;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The check of the health indicator. It makes one request: it lists a prefix that has few objects. */
final class StoreHealth {
    static final String ENABLED = "management.health.sluice-s3.enabled";

    /** Like Boot's {@code ConditionalOnEnabledHealthIndicator}, which has different names in Boot 3 and 4. */
    static final String CONDITION =
            "'${" + ENABLED + ":${management.health.defaults.enabled:true}}'.equalsIgnoreCase('true')";

    private static final int MAX_SECONDS = 10;

    private StoreHealth() {}

    /**
     * {@return the reason why the store cannot be used, or empty if the store responds} Blocks for at most 10 seconds.
     */
    static Optional<Exception> check(ObjectStore store, S3Properties properties) {
        CompletableFuture<ObjectStore.Page> listed = store.list(properties.prefix() + ".probe/", null);
        try {
            listed.get(MAX_SECONDS, TimeUnit.SECONDS);
            return Optional.empty();
        } catch (ExecutionException e) {
            return Optional.of(StoreStartException.of(properties.address(), e.getCause() == null ? e : e.getCause()));
        } catch (TimeoutException e) {
            return Optional.of(StoreStartException.of(properties.address(), e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(e);
        } finally {
            listed.cancel(true);
        }
    }
}
