package dev.sluice.testkit;

import dev.sluice.testkit.LeakDetection.Scope;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * An extension that fails a test if it leaves a buffer unreleased. It counts exactly, without help from the garbage
 * collector.
 *
 * <p>Usage: {@code @ExtendWith(LeakCheck.class)}. The check counts all buffers that Netty tracks (pooled ones, and unpooled
 * ones off the heap) and all memory of {@link BufferKind}'s allocators. Other threads may release their buffers a moment after
 * the test ends: the check waits for them, and fails only after {@value #PATIENCE} seconds. Tests must not run in parallel
 * within one JVM. With {@code -Dsluice.leaks.stacks=true} the failure shows where the buffers were allocated.
 */
public final class LeakCheck implements BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(LeakCheck.class);

    /** The time to wait, in seconds. The configuration parameter {@code sluice.leaks.patience} overrides it. */
    private static final int PATIENCE = 30;

    public LeakCheck() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        Scope scope = LeakDetection.begin();
        requireTracking(scope);
        context.getStore(NAMESPACE).put("scope", scope);
        context.getStore(NAMESPACE).put("open", BufferKind.open());
    }

    /** Throws if Netty's buffers are not tracked, because the check would then always pass. */
    private static void requireTracking(Scope scope) {
        ByteBuf probe = BufferKind.LEAK_AWARE_HEAP.wrap(new byte[1], 0, 1);
        boolean seen = !scope.isEmpty();
        probe.release();
        if (!seen || !becomes(scope::isEmpty, PATIENCE)) {
            throw new IllegalStateException("netty's buffers are not tracked: a buffer class was loaded before "
                    + LeakDetection.class.getName() + " was installed by the launcher");
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        long before = context.getStore(NAMESPACE).getOrDefault("open", Long.class, 0L);
        Scope scope = context.getStore(NAMESPACE).get("scope", Scope.class);
        int patience = context.getConfigurationParameter("sluice.leaks.patience", Integer::valueOf)
                .orElse(PATIENCE);
        boolean released = becomes(() -> BufferKind.open() == before && (scope == null || scope.isEmpty()), patience);
        long after = BufferKind.open();
        LeakDetection.begin();
        if (!released && after != before) {
            throw new AssertionError("the test left buffers unreleased (" + (after - before)
                    + " bytes of unpooled memory or pooled buffers)");
        }
        if (!released && scope != null) {
            throw scope.failure();
        }
    }

    private static boolean becomes(BooleanSupplier condition, int seconds) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start >= TimeUnit.SECONDS.toNanos(seconds)) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        return true;
    }
}
