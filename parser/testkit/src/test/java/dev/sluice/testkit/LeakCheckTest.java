package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.EventConditions;

class LeakCheckTest {
    private static final List<ByteBuf> LEFT = new ArrayList<>();

    @AfterEach
    void releaseLeakedBuffers() {
        LEFT.forEach(ByteBuf::release);
        LEFT.clear();
    }

    @Test
    void leakOfEveryKind_failsTest() {
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(Examples.class))
                .configurationParameter("sluice.leaks.patience", "0")
                .execute()
                .testEvents()
                .assertStatistics(statistics -> statistics.started(7).failed(6).succeeded(1))
                .succeeded()
                .assertEventsMatchExactly(EventConditions.test("everything_isReleased"));
        assertEquals(5, LEFT.size());
    }

    @Test
    void buffer_releasedByAnotherThreadAfterTheTest_isNotALeak() {
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(Late.class))
                .execute()
                .testEvents()
                .assertStatistics(statistics -> statistics.started(2).succeeded(2));
    }

    @Test
    void levelScope_restoresPreviousLevel() {
        Level before = ResourceLeakDetector.getLevel();
        for (Level level : Level.values()) {
            LeakLevel scope = LeakLevel.of(level);
            assertEquals(level, ResourceLeakDetector.getLevel());
            scope.close();
            assertEquals(before, ResourceLeakDetector.getLevel());
        }
    }

    @Test
    void levelScope_closedTwice_restoresOnce() {
        Level before = ResourceLeakDetector.getLevel();
        LeakLevel outer = LeakLevel.of(Level.SIMPLE);
        LeakLevel inner = LeakLevel.of(Level.ADVANCED);
        inner.close();
        outer.close();
        inner.close();
        assertEquals(before, ResourceLeakDetector.getLevel());
    }

    /** Tests that only the test above runs. Surefire does not find them by their names. */
    @ExtendWith(LeakCheck.class)
    @Tag("example")
    static class Examples {
        @Test
        void everything_isReleased() {
            for (BufferKind kind : BufferKind.values()) {
                kind.wrap(new byte[9], 0, 9).release();
            }
            PooledByteBufAllocator.DEFAULT.directBuffer().release();
        }

        @Test
        void heapBuffer_leaks() {
            LEFT.add(BufferKind.HEAP.wrap(new byte[9], 0, 9));
        }

        @Test
        void pooledBuffer_leaks() {
            LEFT.add(BufferKind.POOLED_DIRECT.wrap(new byte[9], 0, 9));
        }

        @Test
        void slice_leaks() {
            LEFT.add(BufferKind.SLICE_HEAP.wrap(new byte[9], 0, 9));
        }

        @Test
        void defaultAllocatorBuffer_leaks() {
            LEFT.add(PooledByteBufAllocator.DEFAULT.heapBuffer());
        }

        @Test
        void collectedBuffer_leaks() {
            WeakReference<ByteBuf> taken = new WeakReference<>(UnpooledByteBufAllocator.DEFAULT.directBuffer());
            while (taken.get() != null) {
                System.gc();
            }
            for (int i = 0; i < 9; i++) { // netty looks for collected buffers when it tracks the next one
                UnpooledByteBufAllocator.DEFAULT.directBuffer().release();
            }
        }

        @Test
        void unpooledDirectBuffer_leaks() {
            LEFT.add(UnpooledByteBufAllocator.DEFAULT.directBuffer());
        }
    }

    /** Tests that only a test above runs. Surefire does not find them by their names. */
    @ExtendWith({LeakCheck.class, Late.Release.class})
    @Tag("example")
    static class Late {
        private static final List<ByteBuf> HELD = new ArrayList<>();

        /** Registered after the check, so that its callback runs before the check. */
        static final class Release implements AfterEachCallback {
            @Override
            public void afterEach(ExtensionContext context) {
                List<ByteBuf> held = List.copyOf(HELD);
                HELD.clear();
                CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS)
                        .execute(() -> held.forEach(ByteBuf::release));
            }
        }

        @Test
        void holdsAPooledBuffer() {
            HELD.add(PooledByteBufAllocator.DEFAULT.heapBuffer());
        }

        @Test
        void holdsAPlainHeapBuffer() {
            HELD.add(BufferKind.HEAP.wrap(new byte[9], 0, 9));
        }
    }
}
