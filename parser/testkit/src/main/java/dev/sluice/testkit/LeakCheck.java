package dev.sluice.testkit;

import dev.sluice.testkit.LeakDetection.Scope;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that leaves a buffer unreleased: exactly, at once, without waiting for the garbage collector.
 *
 * <p>Use: {@code @ExtendWith(LeakCheck.class)}. Counted are all buffers that netty tracks (pooled ones, and unpooled
 * ones outside of the heap) and all memory of {@link BufferKind}'s allocators. Tests must not run in parallel within
 * one JVM. With {@code -Dsluice.leaks.stacks=true} the failure shows where the buffers came from.
 */
public final class LeakCheck implements BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(LeakCheck.class);

    /** For JUnit. */
    public LeakCheck() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        Scope scope = LeakDetection.begin();
        requireTracking(scope);
        context.getStore(NAMESPACE).put("scope", scope);
        context.getStore(NAMESPACE).put("open", BufferKind.open());
    }

    /** A check that sees nothing would pass always. */
    private static void requireTracking(Scope scope) {
        ByteBuf probe = BufferKind.LEAK_AWARE_HEAP.wrap(new byte[1], 0, 1);
        boolean seen = !scope.isEmpty();
        probe.release();
        if (!seen || !scope.isEmpty()) {
            throw new IllegalStateException("netty's buffers are not tracked: a buffer class was loaded before "
                    + LeakDetection.class.getName() + " was installed by the launcher");
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        long before = context.getStore(NAMESPACE).getOrDefault("open", Long.class, 0L);
        long after = BufferKind.open();
        Scope scope = context.getStore(NAMESPACE).get("scope", Scope.class);
        LeakDetection.begin();
        if (after != before) {
            throw new AssertionError("the test left buffers unreleased (" + (after - before)
                    + " bytes of unpooled memory or pooled buffers)");
        }
        if (scope != null && !scope.isEmpty()) {
            throw scope.failure();
        }
    }
}
