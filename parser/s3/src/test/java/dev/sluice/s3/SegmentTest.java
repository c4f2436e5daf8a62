package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SegmentTest {
    private static final int MIB = 1 << 20;

    private final CountingAllocator allocator = new CountingAllocator();
    private final AtomicInteger freed = new AtomicInteger();
    private final AtomicLong smallMemory = new AtomicLong();
    private final Segment segment = new Segment(smallMemory, segment -> freed.incrementAndGet());
    private final CRC32 whole = new CRC32();

    @BeforeEach
    void lease() {
        segment.lease(8 * MIB);
    }

    private static final class Reader implements Flow.Subscriber<ByteBuffer> {
        private final List<ByteBuffer> seen = new ArrayList<>();
        private Flow.Subscription subscription;
        private long requestedByEach;
        private Throwable error;
        private boolean complete;

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
        }

        @Override
        public void onNext(ByteBuffer bytes) {
            seen.add(bytes);
            if (requestedByEach > 0) {
                subscription.request(requestedByEach);
            }
        }

        @Override
        public void onError(Throwable cause) {
            error = cause;
        }

        @Override
        public void onComplete() {
            complete = true;
        }

        private String text() {
            StringBuilder text = new StringBuilder();
            seen.forEach(bytes -> text.append(StandardCharsets.US_ASCII.decode(bytes.duplicate())));
            return text.toString();
        }
    }

    @AfterEach
    void assertNothingHeld() {
        assertEquals(List.of(), allocator.unreleased());
        assertEquals(1, freed.get());
    }

    private void add(String text, int capacity) {
        ByteBuf data = allocator.buffer(capacity).writeBytes(text.getBytes(StandardCharsets.US_ASCII));
        segment.add(data, whole);
        assertEquals(0, data.readableBytes());
        data.release();
    }

    private Reader read() {
        Reader reader = new Reader();
        segment.subscribe(reader);
        return reader;
    }

    @Test
    void subscription_startsAtTheFirstByte_andFailsAfterTheRelease() {
        String large = "x".repeat(70_000);
        add("ab", 2);
        add(large, 70_000);
        add("cd", 4096);
        segment.seal();
        Reader first = read();
        Reader second = read();
        first.subscription.request(1);
        assertEquals("ab", first.text());
        first.requestedByEach = Long.MAX_VALUE;
        first.subscription.request(Long.MAX_VALUE);
        assertEquals("ab" + large + "cd", first.text());
        assertTrue(first.complete);
        second.subscription.request(2);
        assertEquals("ab" + large, second.text());
        segment.release();
        assertEquals(1, freed.get(), "a subscription keeps the buffers");
        second.subscription.request(1);
        assertInstanceOf(IllegalStateException.class, second.error);
        assertEquals("ab" + large, second.text());
    }

    /** A client can send each byte as a chunk of HTTP. */
    @Test
    void singleBytes_areGathered() {
        ByteBuf read = allocator.buffer(64 << 10).writeZero(64 << 10);
        while (read.isReadable()) {
            segment.add(read.readSlice(1), whole);
        }
        assertTrue(read.refCnt() < 4096, read.refCnt() + " references");
        read.release();
        segment.release();
    }

    @Test
    void fullBuffer_isNotCopied() {
        byte[] bytes = new byte[64 << 10];
        ByteBuf data = allocator.buffer(bytes.length).writeBytes(bytes);
        segment.add(data, whole);
        data.release();
        assertEquals(bytes.length, allocator.liveBytes());
        segment.release();
    }

    /** Netty's codec cuts a network read into slices of 8 KiB. */
    @Test
    void slicesOfFullBuffers_areNotCopied() {
        for (int i = 0; i < 128; i++) {
            ByteBuf read = allocator.buffer(64 << 10).writeZero(64 << 10);
            while (read.isReadable()) {
                segment.add(read.readSlice(8 << 10), whole);
            }
            assertEquals(9, read.refCnt());
            read.release();
        }
        assertEquals(8 * MIB, allocator.liveBytes());
        segment.seal().release();
    }

    @Test
    void fewBytesOfLargeBuffers_areCopied() {
        for (int i = 0; i < 10_000; i++) {
            add("0123456789", 32 << 10);
        }
        segment.seal();
        assertEquals(100_000, segment.size());
        assertTrue(allocator.liveBytes() <= segment.size() + (8 * MIB) / 16, "held: " + allocator.liveBytes());
        segment.release();
    }

    /** A peek at the first bytes of a part makes such buffers. */
    @Test
    void compositeBuffer_countsAsTheMemoryOfItsComponents() {
        for (int i = 0; i < 1000; i++) {
            ByteBuf chunk = allocator.buffer(64 << 10).writeZero(100);
            ByteBuf both = Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(new byte[10]), chunk.retainedSlice());
            segment.add(both, whole);
            both.release();
            chunk.release();
        }
        segment.seal();
        assertEquals(110_000, segment.size());
        assertTrue(allocator.liveBytes() <= segment.size() + (8 * MIB) / 16, "held: " + allocator.liveBytes());
        segment.release();
    }

    @Test
    void add_beyondTheCapacity_leavesTheRest() {
        ByteBuf data = allocator.buffer(9 * MIB).writeZero(9 * MIB);
        segment.add(data, whole);
        assertTrue(segment.isFull());
        assertEquals(MIB, data.readableBytes());
        data.release();
        segment.release();
    }

    @Test
    void checksum_matchesTheBytes() {
        add("123456789", 9);
        assertEquals("y/Q5Jg==", segment.crc32()); // 0xCBF43926, the check value of CRC-32
        assertEquals(0xCBF43926L, whole.getValue());
        segment.release();
    }

    @Test
    void bufferReleasedByMistake_keepsNoOther() {
        ByteBuf data = allocator.buffer(64 << 10).writeZero(64 << 10);
        segment.add(data, whole);
        add("a", 1);
        data.release(2);
        segment.release();
    }

    @Test
    void smallSegment_copiesWithinItsCharge() {
        Segment small = new Segment(smallMemory, freed -> {});
        int content = 0;
        for (int more : new int[] {1, 10, 1000, 5000, 3, 10_000}) {
            assertTrue(small.makeRoom(more));
            ByteBuf data = allocator.buffer(64 << 10).writeZero(more);
            small.add(data, whole);
            data.release();
            content += more;
            assertTrue(allocator.liveBytes() <= smallMemory.get(), allocator.liveBytes() + " of " + smallMemory);
        }
        assertEquals(content, small.size());
        assertTrue(smallMemory.get() <= content * 5 / 4 + 1024, "charged " + smallMemory);
        assertFalse(small.makeRoom(SegmentMemory.SMALL));
        small.release();
        assertEquals(0, smallMemory.get());
        segment.release();
    }

    @Test
    void smallMemory_isFreeAgainAfterALease() {
        Segment grown = new Segment(smallMemory, freed -> {});
        assertTrue(grown.makeRoom(SegmentMemory.SMALL / 2));
        grown.lease(8 * MIB);
        assertEquals(0, smallMemory.get());
        grown.release();
        assertEquals(0, smallMemory.get());
        segment.release();
    }
}
