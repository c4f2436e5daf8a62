package dev.sluice.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.AbstractByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector.Level;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Runs every test at level PARANOID and fails it if a tracked buffer is open at its end. */
final class ExactLeaks implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(ExactLeaks.class);

    @Override
    public void beforeAll(ExtensionContext context) {
        LeakLevel paranoid = LeakLevel.of(Level.PARANOID);
        try {
            int before = CountingDetector.open();
            ByteBuf probe = UnpooledByteBufAllocator.DEFAULT.directBuffer(1);
            assertEquals(before + 1, CountingDetector.open(), "netty does not use the counting detector");
            assertTrue(probe.unwrap() instanceof AbstractByteBuf, "no leak-aware wrapper at PARANOID");
            probe.release();
            assertTrue(LeakLevel.recordsTouches());
        } finally {
            paranoid.close();
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        CountingDetector.forgetAll();
        context.getStore(NAMESPACE).put(LeakLevel.class, LeakLevel.of(Level.PARANOID));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        context.getStore(NAMESPACE).get(LeakLevel.class, LeakLevel.class).close();
        assertEquals(0, CountingDetector.open(), () -> "not released: " + CountingDetector.hints());
    }
}
