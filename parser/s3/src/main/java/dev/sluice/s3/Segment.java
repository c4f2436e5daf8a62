package dev.sluice.s3;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that go to a store in one request: the buffers in which they came, retained. Can be sent more than once: each
 * subscription begins at the first byte. Released when its owner has no more use for it and the last subscription has
 * ended.
 */
public final class Segment implements Flow.Publisher<ByteBuffer> {
    /** Of its size, how much memory more the buffers may keep from being used again; then bytes are copied. */
    private static final int SLACK = 16;

    /** Copies go to buffers as large as what came before, within these bounds. */
    private static final int LEAST_GATHERED = 1 << 10;

    private static final int MOST_GATHERED = 64 << 10;

    private final long capacity;

    /** Whether it is one beside the two of its form: then others can have its memory when it was sent. */
    boolean isExtra;

    private Runnable whenFree;
    private final List<ByteBuf> buffers = new ArrayList<>();
    private final List<ByteBuffer> views = new ArrayList<>();
    private final CRC32 crc = new CRC32();
    private final AtomicInteger users = new AtomicInteger(1);
    private @Nullable ByteBuf gather;
    private long size;
    private long pinned;

    /**
     * @param capacity the bytes that it may hold
     * @param whenFree called once, when all is released
     */
    Segment(long capacity, Runnable whenFree) {
        this.capacity = capacity;
        this.whenFree = whenFree;
    }

    /** {@return the number of bytes} */
    public long size() {
        return size;
    }

    /** {@return the CRC-32 of the bytes, big-endian, in base64: as headers have it} */
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

    /** {@return the most memory that one of {@code size} bytes holds} */
    static long memory(long size) {
        return size + size / SLACK;
    }

    /** {@return the bytes of memory that it holds} */
    long pinned() {
        return pinned;
    }

    /**
     * Takes what fits of {@code data}, and moves its reader index; retains the buffer, or copies out of one of which most is
     * not ours.
     */
    void add(ByteBuf data, CRC32 whole) {
        ByteBuf slice = data.readSlice((int) Math.min(data.readableBytes(), capacity - size));
        ByteBuffer[] bytes = slice.nioBuffers();
        for (ByteBuffer view : bytes) {
            crc.update(view.duplicate());
            whole.update(view.duplicate());
        }
        size += slice.readableBytes();
        long memory = memoryBehind(slice);
        if (pinned + memory - size <= capacity / SLACK - MOST_GATHERED) {
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
                int room = (int) Math.max(LEAST_GATHERED, Math.min(size, MOST_GATHERED));
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

    /** Nothing more is added. {@return this} */
    Segment seal() {
        endGathering();
        return this;
    }

    /** What it holds is charged elsewhere from here on: as if it were free for whoever charged it, and {@code then} later. */
    void recharge(Runnable then) {
        Runnable before = whenFree;
        whenFree = then;
        before.run();
    }

    /** The owner has no more use for it. */
    void release() {
        if (users.decrementAndGet() == 0) {
            endGathering();
            buffers.forEach(ByteBuf::release);
            whenFree.run();
        }
    }

    // ---- for the store

    /** {@inheritDoc} What it is given is to be read, and not after the subscription has ended. */
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
        private final AtomicInteger calls = new AtomicInteger();
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

        /** One thread at a time; what it reads is held until it is done. */
        private void work() {
            if (calls.getAndIncrement() > 0) {
                return;
            }
            int seen = 1;
            do {
                emit();
                seen = calls.addAndGet(-seen);
            } while (seen != 0);
        }

        private void emit() {
            while (!ended && !over && wrong == null && next < views.size() && demand.get() > 0) {
                demand.decrementAndGet();
                subscriber.onNext(views.get(next++).duplicate());
            }
            if (ended || !over && wrong == null && next < views.size()) {
                return;
            }
            ended = true;
            if (!over && wrong != null) {
                subscriber.onError(wrong);
            } else if (!over) {
                subscriber.onComplete();
            }
            release();
        }
    }
}
