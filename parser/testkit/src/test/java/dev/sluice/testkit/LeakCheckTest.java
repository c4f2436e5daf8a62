package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.EventConditions;

class LeakCheckTest {
    private static final List<ByteBuf> LEFT = new ArrayList<>();

    @AfterEach
    void releaseWhatTheExamplesLeft() {
        LEFT.forEach(ByteBuf::release);
        LEFT.clear();
    }

    @Test
    void aLeakOfEveryKindFailsTheTestAndAReleaseDoesNot() {
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectClass(Examples.class))
                .execute()
                .testEvents()
                .assertStatistics(statistics -> statistics.started(6).failed(5).succeeded(1))
                .succeeded()
                .assertEventsMatchExactly(EventConditions.test("releasesAll"));
        assertEquals(5, LEFT.size());
    }

    /** Run by the test above alone: it is not found by its name. */
    @ExtendWith(LeakCheck.class)
    @Tag("example")
    static class Examples {
        @Test
        void releasesAll() {
            for (BufferKind kind : BufferKind.values()) {
                kind.wrap(new byte[9], 0, 9).release();
            }
            PooledByteBufAllocator.DEFAULT.directBuffer().release();
        }

        @Test
        void leavesAPlainHeapBuffer() {
            LEFT.add(BufferKind.HEAP.wrap(new byte[9], 0, 9));
        }

        @Test
        void leavesAPlainPooledBuffer() {
            LEFT.add(BufferKind.POOLED_DIRECT.wrap(new byte[9], 0, 9));
        }

        @Test
        void leavesASlice() {
            LEFT.add(BufferKind.SLICE_HEAP.wrap(new byte[9], 0, 9));
        }

        @Test
        void leavesAPooledBufferOfTheDefaultAllocator() {
            LEFT.add(PooledByteBufAllocator.DEFAULT.heapBuffer());
        }

        @Test
        void leavesAnUnpooledDirectBuffer() {
            LEFT.add(UnpooledByteBufAllocator.DEFAULT.directBuffer());
        }
    }
}
