package dev.sluice.s3;

import dev.sluice.form.flow.KeptMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.FlowAdapters;
import software.amazon.awssdk.core.async.AsyncRequestBody;

/**
 * The body of one request, made of the received buffers. It can be sent more than once: each subscription starts with the first byte.
 *
 * <p>Subscribers get copies. The client of the SDK queues the last buffers of a body on its event loop, and may send them after the request was
 * cancelled, when another form already uses the memory of the segment.
 *
 * <p>A small segment copies its bytes; its owner calls {@link #makeRoom} as they arrive. The small segments of a form share {@link
 * SegmentMemory#SMALL} bytes. A segment becomes leased with {@link #lease}: its capacity is then fixed, and it retains most buffers instead
 * of copying them.
 */
public final class Segment implements Flow.Publisher<ByteBuffer> {
    /** Retained buffers may pin up to 1/16 of the capacity in memory beyond the bytes that they hold. After that, bytes are copied. */
    private static final int SLACK = 16;

    /** The memory of the objects for a retained buffer. A client can send each byte in its own buffer. */
    private static final int OVERHEAD = 256;

    /** Bytes are copied into buffers of a quarter of the current size of the segment, within these bounds. */
    private static final int MIN_GATHERED = 1 << 10;

    private static final int MAX_GATHERED = 64 << 10;
    private static final int GATHERED_SHARE = 4;

    /** The memory charged for all small segments of the form, of which {@link #charged} is for this one. */
    private final AtomicLong smallMemory;

    private final LongConsumer whenFree;
    private long capacity;
    private boolean isLeased;
    private long charged;
    private final List<ByteBuf> buffers = new ArrayList<>();
    private final List<ByteBuffer> views = new ArrayList<>();
    private final CRC32 crc = new CRC32();
    private final AtomicInteger users = new AtomicInteger(1);
    private @Nullable ByteBuf gather;
    private long size;

    /** The memory that the buffers and their objects occupy. Neighbouring slices of one network read count it once. */
    private long pinned;

    /** The root of the last retained buffer. */
    private @Nullable ByteBuf lastRoot;

    /** @param whenFree accepts the leased capacity, or 0, when all buffers have been released */
    Segment(AtomicLong smallMemory, LongConsumer whenFree) {
        this.smallMemory = smallMemory;
        this.whenFree = whenFree;
    }

    /** {@return a segment that holds {@code bytes}} */
    static Segment of(byte[] bytes) {
        Segment segment = new Segment(new AtomicLong(), freed -> {});
        segment.lease(bytes.length);
        segment.add(Unpooled.wrappedBuffer(bytes), new CRC32());
        return segment.seal();
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

    /** {@return the maximum memory of a leased segment of this capacity} */
    static long memory(long capacity) {
        return capacity + capacity / SLACK;
    }

    /** {@return whether this small segment now has room for {@code bytes} more; otherwise it needs a {@link #lease}} */
    boolean makeRoom(int bytes) {
        long room = size + bytes;
        long more = room + room / GATHERED_SHARE + MIN_GATHERED - charged;
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
     * Takes the bytes of {@code data} that fit, and moves its reader index. Copies them if this segment is small, or if retaining the
     * buffer would pin too much unused memory.
     *
     * @param whole the checksum of the whole file, which is updated with these bytes
     */
    void add(ByteBuf data, CRC32 whole) {
        ByteBuf slice = data.readSlice((int) Math.min(data.readableBytes(), capacity - size));
        ByteBuffer[] bytes = slice.nioBuffers();
        for (ByteBuffer view : bytes) {
            crc.update(view.duplicate());
            whole.update(view.duplicate());
        }
        size += slice.readableBytes();
        ByteBuf root = KeptMemory.root(slice);
        long memory = OVERHEAD + (root == lastRoot ? 0 : KeptMemory.of(root));
        if (isLeased && pinned + memory - size <= capacity / SLACK - MAX_GATHERED) {
            endGathering();
            buffers.add(slice.retain());
            views.addAll(List.of(bytes));
            pinned += memory;
            lastRoot = root;
        } else {
            gather(slice);
        }
    }

    private void gather(ByteBuf few) {
        while (few.isReadable()) {
            ByteBuf into = gather;
            if (into == null) {
                int room = (int) Math.max(MIN_GATHERED, Math.min(size / GATHERED_SHARE, MAX_GATHERED));
                into = few.alloc().buffer(room, room);
                gather = into;
                pinned += room;
            }
            into.writeBytes(few, Math.min(few.readableBytes(), into.writableBytes()));
            if (!into.isWritable()) {
                endGathering();
            }
        }
    }

    private void endGathering() {
        ByteBuf gathered = gather;
        if (gathered != null) {
            buffers.add(gathered);
            views.add(gathered.nioBuffer());
            gather = null;
        }
    }

    /** Ends the content. {@return this} */
    Segment seal() {
        endGathering();
        return this;
    }

    /** Drops the reference of the owner, or of a copy that is being made. The last one releases the buffers. */
    void release() {
        if (users.decrementAndGet() == 0) {
            endGathering();
            buffers.forEach(ReferenceCountUtil::safeRelease); // another sink may have released one by mistake
            smallMemory.addAndGet(-charged);
            whenFree.accept(isLeased ? capacity : 0);
        }
    }

    // ---- for the store

    /** {@inheritDoc} The buffers are copies. Once the owner has released the segment, a subscription fails instead of reading more. */
    @Override
    public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
        ByteBuffer[] all = views.toArray(ByteBuffer[]::new);
        FlowAdapters.toFlowPublisher(
                        AsyncRequestBody.fromRemainingByteBuffersUnsafe(all).map(this::copy))
                .subscribe(subscriber);
    }

    private ByteBuffer copy(ByteBuffer view) {
        if (users.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw new IllegalStateException("the segment was released");
        }
        try {
            return ByteBuffer.allocate(view.remaining()).put(view).flip();
        } finally {
            release();
        }
    }
}
