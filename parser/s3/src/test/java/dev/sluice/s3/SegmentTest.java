package dev.sluice.s3;

import static dev.sluice.s3.Uploads.failure;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.FlowAdapters;
import software.amazon.awssdk.core.async.SdkPublisher;

class SegmentTest {
    private static final int MIB = 1 << 20;

    private final AtomicLong smallMemory = new AtomicLong();
    private final AtomicLong freed = new AtomicLong();
    private final Segment segment = new Segment(smallMemory, freed::addAndGet);
    private final CRC32 whole = new CRC32();

    @AfterEach
    void release() {
        segment.release();
        segment.release(); // has no effect
        assertEquals(0, smallMemory.get());
        assertEquals(segment.isLeased() ? 8 * MIB : 0, freed.get());
    }

    @Test
    void smallSegments_shareTheMemoryOfTheForm() {
        Segment other = new Segment(smallMemory, freed::addAndGet);
        assertTrue(other.makeRoom(SegmentMemory.SMALL / 2));
        assertFalse(segment.makeRoom(SegmentMemory.SMALL / 2));
        other.release();
        assertTrue(segment.makeRoom(SegmentMemory.SMALL / 2));
    }

    /** Counts the blocks of a segment, and their memory. */
    private static final class Blocks implements Flow.Subscriber<ByteBuffer> {
        int count;
        long memory;

        static Blocks of(Segment segment) {
            Blocks blocks = new Blocks();
            segment.subscribe(blocks);
            return blocks;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(ByteBuffer bytes) {
            count++;
            memory += bytes.capacity();
        }

        @Override
        public void onError(Throwable failure) {
            throw new AssertionError(failure);
        }

        @Override
        public void onComplete() {}
    }

    private void add(ByteBuf data) {
        segment.add(data, whole);
        assertTrue(data.release(), "the segment retains the buffer");
    }

    @Test
    void subscription_startsAtTheFirstByte_andFailsAfterTheRelease() {
        byte[] bytes = "x".repeat(70_000).concat("end").getBytes(StandardCharsets.US_ASCII);
        Segment sent = Segment.of(bytes);
        assertArrayEquals(bytes, MemoryStore.bytes(sent));
        assertArrayEquals(bytes, MemoryStore.bytes(sent));
        sent.release();
        Throwable failure =
                failure(SdkPublisher.adapt(FlowAdapters.toPublisher(sent)).subscribe(more -> {}));
        assertEquals("the segment was released", failure.getMessage());
    }

    /** A client can send each byte as a chunk of HTTP. */
    @Test
    void singleBytes_shareABlock() {
        segment.lease(8 * MIB);
        for (int i = 0; i < 64 << 10; i++) {
            add(Unpooled.wrappedBuffer(new byte[1]));
        }
        assertEquals(1, Blocks.of(segment).count);
    }

    @Test
    void add_beyondTheCapacity_leavesTheRest() {
        byte[] content = new byte[9 * MIB + 1000];
        new Random(1).nextBytes(content);
        ByteBuf data = Unpooled.wrappedBuffer(content);
        assertTrue(segment.makeRoom(1000));
        segment.add(data, whole);
        assertEquals(1000, data.readerIndex());
        segment.lease(8 * MIB);
        segment.add(data, whole);
        assertTrue(segment.isFull());
        assertArrayEquals(Arrays.copyOf(content, 8 * MIB), MemoryStore.bytes(segment));
        assertEquals(MIB + 1000, data.readableBytes());
        assertEquals(8 * MIB, Blocks.of(segment).memory);
    }

    @Test
    void checksum_matchesTheBytes() {
        segment.lease(8 * MIB);
        add(Unpooled.copiedBuffer("123456789", StandardCharsets.US_ASCII));
        assertEquals("y/Q5Jg==", segment.crc32()); // 0xCBF43926, the check value of CRC-32
        assertEquals(0xCBF43926L, whole.getValue());
    }

    @Test
    void smallSegment_copiesWithinItsCharge() {
        int content = 0;
        for (int more : new int[] {1, 10, 1000, 5000, 3, 10_000}) {
            assertTrue(segment.makeRoom(more));
            add(Unpooled.wrappedBuffer(new byte[more]));
            content += more;
            long memory = Blocks.of(segment).memory;
            assertTrue(memory <= smallMemory.get(), memory + " of " + smallMemory);
        }
        assertEquals(content, segment.size());
        assertTrue(smallMemory.get() <= content * 5 / 4 + 1024, "charged " + smallMemory);
        assertFalse(segment.makeRoom(SegmentMemory.SMALL));
    }

    @Test
    void smallMemory_isFreeAgainAfterALease() {
        assertTrue(segment.makeRoom(SegmentMemory.SMALL / 2));
        segment.lease(8 * MIB);
        assertEquals(0, smallMemory.get());
    }
}
