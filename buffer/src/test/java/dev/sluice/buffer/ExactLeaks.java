package dev.sluice.buffer;

import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.LeakLevel;
import io.netty.util.ResourceLeakDetector.Level;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An extension that runs each test at leak detection level PARANOID and fails it if a tracked buffer was not released. */
final class ExactLeaks implements BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(ExactLeaks.class);

    private final LeakCheck check = new LeakCheck();

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(NAMESPACE).put(LeakLevel.class, LeakLevel.of(Level.PARANOID));
        check.beforeEach(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        context.getStore(NAMESPACE).get(LeakLevel.class, LeakLevel.class).close();
        check.afterEach(context);
    }
}
