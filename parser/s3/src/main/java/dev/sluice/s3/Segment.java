package dev.sluice.s3;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.zip.CRC32;
import org.reactivestreams.FlowAdapters;
import software.amazon.awssdk.core.async.AsyncRequestBody;

/**
 * The body of one request. It can be sent more than once: each subscription starts with the first byte.
 *
 * <p>The received bytes are copied into new blocks on the heap, which never hold other content later. The client of the SDK queues the last
 * buffers of a body on its event loop, and may send them after the request was cancelled. It must not send the bytes of another form then.
 *
 * <p>The small segments of a form share {@link SegmentMemory#SMALL} bytes, and their owner calls {@link #makeRoom} as bytes arrive. A
 * segment becomes leased with {@link #lease}: its capacity is then fixed.
 */
public final class Segment implements Flow.Publisher<ByteBuffer> {
    /** The size of the blocks of a leased segment. */
    private static final int BLOCK = 64 << 10;

    /** A new block of a small segment has a quarter of the current size of the segment, but at least this size. */
    private static final int MIN_BLOCK = 1 << 10;

    private static final int BLOCK_SHARE = 4;

    /** The memory charged for all small segments of the form, of which {@link #charged} is for this one. */
    private final AtomicLong smallMemory;

    private final LongConsumer whenFree;
    private final CRC32 crc = new CRC32();
    private long capacity;
    private boolean isLeased;
    private long charged;
    private long size;

    /** The bytes before the position of each block. Empty after the release, because a cancelled request may keep this segment. */
    private volatile List<ByteBuffer> blocks = new ArrayList<>();

    /** @param whenFree accepts the capacity when the segment is released, if it is leased */
    Segment(AtomicLong smallMemory, LongConsumer whenFree) {
        this.smallMemory = smallMemory;
        this.whenFree = whenFree;
    }

    /** {@return a segment that holds {@code bytes}} */
    static Segment of(byte[] bytes) {
        Segment segment = new Segment(new AtomicLong(), freed -> {});
        segment.lease(bytes.length);
        segment.add(Unpooled.wrappedBuffer(bytes), new CRC32());
        return segment;
    }

    /** {@return the number of bytes} */
    public long size() {
        return size;
    }

    /** {@return the CRC-32 of the bytes, big-endian and in base64, as in a header} */
    public String crc32() {
        return base64(crc);
    }

    static String base64(CRC32 crc) {
        ByteBuffer bytes = ByteBuffer.allocate(4).putInt((int) crc.getValue());
        return Base64.getEncoder().encodeToString(bytes.array());
    }

    // ---- for the sink, until it is sent

    boolean isFull() {
        return size >= capacity;
    }

    boolean isLeased() {
        return isLeased;
    }

    /** {@return whether this small segment now has room for {@code bytes} more; otherwise it needs a {@link #lease}} */
    boolean makeRoom(int bytes) {
        long room = size + bytes;
        long more = room + room / BLOCK_SHARE + MIN_BLOCK - charged;
        if (smallMemory.addAndGet(more) > SegmentMemory.SMALL) {
            smallMemory.addAndGet(-more);
            return false;
        }
        charged += more;
        capacity = room;
        return true;
    }

    /** Makes this a leased segment with a capacity of {@code bytes}. */
    void lease(long bytes) {
        smallMemory.addAndGet(-charged);
        charged = 0;
        isLeased = true;
        capacity = bytes;
    }

    /**
     * Copies the bytes of {@code data} that fit, and moves its reader index.
     *
     * @param whole the checksum of the whole file, which is updated with these bytes
     */
    void add(ByteBuf data, CRC32 whole) {
        for (long fits; (fits = Math.min(data.readableBytes(), capacity - size)) > 0; ) {
            ByteBuffer into = blocks.isEmpty() ? null : blocks.get(blocks.size() - 1);
            if (into == null || !into.hasRemaining()) {
                long room = isLeased ? Math.min(BLOCK, capacity - size) : Math.max(MIN_BLOCK, size / BLOCK_SHARE);
                into = ByteBuffer.allocate((int) room);
                blocks.add(into);
            }
            int count = (int) Math.min(fits, into.remaining());
            data.readBytes(into.array(), into.position(), count);
            crc.update(into.array(), into.position(), count);
            whole.update(into.array(), into.position(), count);
            into.position(into.position() + count);
            size += count;
        }
    }

    /** Ends the use of the memory that is charged for this segment. A second call has no effect. */
    void release() {
        blocks = List.of();
        smallMemory.addAndGet(-charged);
        charged = 0;
        long freed = capacity;
        capacity = 0;
        if (isLeased && freed > 0) {
            whenFree.accept(freed);
        }
    }

    // ---- for the store

    /** {@inheritDoc} After the segment was released, a new subscription fails. */
    @Override
    public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
        ByteBuffer[] all =
                blocks.stream().map(block -> block.duplicate().flip()).toArray(ByteBuffer[]::new);
        if (all.length == 0 && size > 0) {
            SubmissionPublisher<ByteBuffer> failed = new SubmissionPublisher<>(Runnable::run, 1);
            failed.closeExceptionally(new IllegalStateException("the segment was released"));
            failed.subscribe(subscriber);
            return;
        }
        FlowAdapters.toFlowPublisher(AsyncRequestBody.fromRemainingByteBuffersUnsafe(all))
                .subscribe(subscriber);
    }
}
