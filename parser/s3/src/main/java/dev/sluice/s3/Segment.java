package dev.sluice.s3;

import dev.sluice.task.SerialTask;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The body of one request: the received buffers, retained. It can be sent more than once; each subscription starts with the first byte.
 * It is released when its owner has released it and the last subscription has ended.
 *
 * <p>A small segment copies its bytes, and its owner extends it as they arrive. A leased one has room for its capacity and retains
 * most buffers.
 */
public final class Segment implements Flow.Publisher<ByteBuffer> {
    /** The part of the capacity that the retained buffers may occupy beyond their bytes; after that, bytes are copied. */
    private static final int SLACK = 16;

    /** Bytes are copied into buffers that grow with the segment, within these bounds. */
    private static final int LEAST_GATHERED = 1 << 10;

    private static final int MOST_GATHERED = 64 << 10;
    private static final int GATHERED_SHARE = 4;

    private final Consumer<Segment> whenFree;
    private long capacity;
    private boolean isLeased;
    private long charged;
    private final List<ByteBuf> buffers = new ArrayList<>();
    private final List<ByteBuffer> views = new ArrayList<>();
    private final CRC32 crc = new CRC32();
    private final AtomicInteger users = new AtomicInteger(1);
    private @Nullable ByteBuf gather;
    private long size;
    private long pinned;

    /** @param whenFree called once, when everything is released */
    Segment(Consumer<Segment> whenFree) {
        this.whenFree = whenFree;
    }

    /** {@return a segment that holds {@code bytes}} */
    static Segment of(byte[] bytes) {
        Segment segment = new Segment(freed -> {});
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
        return Base64.getEncoder()
                .encodeToString(
                        ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }

    // ---- for the sink, until it is sent

    boolean isFull() {
        return size >= capacity;
    }

    boolean isLeased() {
        return isLeased;
    }

    long capacity() {
        return capacity;
    }

    /** {@return the memory that is charged for the small content} */
    long charged() {
        return charged;
    }

    /** {@return the most memory of a leased segment} */
    static long memory(long capacity) {
        return capacity + capacity / SLACK;
    }

    /** {@return the most memory of a small segment with {@code more} bytes more} */
    long smallMemory(int more) {
        long bytes = size + more;
        return bytes + bytes / GATHERED_SHARE + LEAST_GATHERED;
    }

    /** Adds room for {@code more} bytes, whose memory is charged. */
    void extend(int more) {
        charged = smallMemory(more);
        capacity = size + more;
    }

    /** Adds room up to {@code bytes}, whose memory is leased. */
    void lease(long bytes) {
        isLeased = true;
        capacity = bytes;
    }

    /** {@return the bytes of memory that it holds} */
    long pinned() {
        return pinned;
    }

    /** Takes the bytes of {@code data} that fit, and moves its reader index. Copies them if most of the buffer is not theirs. */
    void add(ByteBuf data, CRC32 whole) {
        ByteBuf slice = data.readSlice((int) Math.min(data.readableBytes(), capacity - size));
        ByteBuffer[] bytes = slice.nioBuffers();
        for (ByteBuffer view : bytes) {
            crc.update(view.duplicate());
            whole.update(view.duplicate());
        }
        size += slice.readableBytes();
        long memory = memoryBehind(slice);
        if (isLeased && pinned + memory - size <= capacity / SLACK - MOST_GATHERED) {
            endGathering();
            buffers.add(slice.retain());
            views.addAll(List.of(bytes));
            pinned += memory;
        } else {
            gather(slice);
        }
    }

    private static long memoryBehind(ByteBuf buffer) {
        ByteBuf root = buffer;
        for (ByteBuf next = root.unwrap(); next != null; next = root.unwrap()) {
            root = next;
        }
        if (root instanceof CompositeByteBuf several) {
            long memory = 0;
            for (ByteBuf one : several) {
                memory += memoryBehind(one);
            }
            return memory;
        }
        return root.capacity();
    }

    private void gather(ByteBuf few) {
        while (few.isReadable()) {
            ByteBuf into = gather;
            if (into == null) {
                int room = (int) Math.max(LEAST_GATHERED, Math.min(size / GATHERED_SHARE, MOST_GATHERED));
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

    /** Releases the segment for its owner. */
    void release() {
        if (users.decrementAndGet() == 0) {
            endGathering();
            buffers.forEach(ByteBuf::release);
            whenFree.accept(this);
        }
    }

    // ---- for the store

    /** {@inheritDoc} The buffers are read-only for the subscriber, and valid until the subscription ends. */
    @Override
    public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
        int before;
        do {
            before = users.get();
        } while (before > 0 && !users.compareAndSet(before, before + 1));
        Reading reading = new Reading(subscriber, before > 0);
        subscriber.onSubscribe(reading);
        if (before == 0) {
            subscriber.onError(new IllegalStateException("the segment was released"));
        } else {
            reading.work();
        }
    }

    /** One subscription. */
    private final class Reading implements Flow.Subscription {
        private final Flow.Subscriber<? super ByteBuffer> subscriber;
        private final AtomicLong demand = new AtomicLong();
        private final SerialTask emitting = new SerialTask(this::emit);
        private volatile boolean over;
        private volatile @Nullable Throwable wrong;
        private boolean ended;
        private int next;

        Reading(Flow.Subscriber<? super ByteBuffer> subscriber, boolean holds) {
            this.subscriber = subscriber;
            this.ended = !holds;
        }

        @Override
        public void request(long count) {
            if (count <= 0) {
                wrong = new IllegalArgumentException("request of " + count + " (rule 3.9)");
            } else {
                demand.accumulateAndGet(count, (had, more) -> had + more < 0 ? Long.MAX_VALUE : had + more);
            }
            work();
        }

        @Override
        public void cancel() {
            over = true;
            work();
        }

        private void work() {
            if (emitting.trigger()) {
                emitting.run();
            }
        }

        private boolean emit() {
            while (!ended && !over && wrong == null && next < views.size() && demand.get() > 0) {
                demand.decrementAndGet();
                subscriber.onNext(views.get(next++).duplicate());
            }
            if (ended || !over && wrong == null && next < views.size()) {
                return false;
            }
            ended = true;
            if (!over && wrong != null) {
                subscriber.onError(wrong);
            } else if (!over) {
                subscriber.onComplete();
            }
            release();
            return false;
        }
    }
}
