package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Setting;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How much memory all uploads of the process may hold together. Make one, share it; thread-safe, without locks.
 *
 * <p>What is charged: parts kept in memory (their buffers, not only their bytes); for each part 512 bytes, its header section,
 * and 2 bytes for each character of its name and file name; the header section being read; and the chunk being decoded. Chunks that wait to
 * be decoded belong to whoever feeds them, who can charge them to an account; but where those of all forms are more than an
 * eighth of the budget, and than 1 MiB, each form asks for no more before its own are decoded. Up to 1 MiB that was given back stays at hand, uncharged: to
 * take memory that is in the cache is cheaper than new memory.
 *
 * <p>Refused is what would go beyond, before the memory is taken. A share is kept for small requests, so that a few
 * large ones cannot lock them out: only an account that holds no more than {@link #smallRequestBytes()} after the
 * reservation may use it.
 */
public final class MemoryBudget {
    /** The size of what is used again. */
    static final int SEGMENT = 8 << 10;

    private static final int MOST_SPARE = 128;
    private static final long SMALL_REQUEST = 64 << 10;
    private static final int SHARE_THAT_WAITS = 8;
    private static final long LEAST_THAT_WAITS = 1 << 20;

    private final long capacity;
    private final long keptForSmall;
    private final long smallRequestBytes;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong peak = new AtomicLong();
    private final AtomicLong refusals = new AtomicLong();
    private final AtomicLong waiting = new AtomicLong();
    private final ArrayBlockingQueue<byte[]> spare = new ArrayBlockingQueue<>(MOST_SPARE);

    private MemoryBudget(long capacity, long keptForSmall, long smallRequestBytes) {
        if (capacity < 0 || keptForSmall < 0 || keptForSmall > capacity || smallRequestBytes < 0) {
            throw new IllegalArgumentException(
                    "capacity " + capacity + ", kept for small requests " + keptForSmall + ", small request "
                            + smallRequestBytes + ": must be 0 or more, and the share within the capacity");
        }
        this.capacity = capacity;
        this.keptForSmall = keptForSmall;
        this.smallRequestBytes = smallRequestBytes;
    }

    /**
     * {@return a budget of which a quarter is kept for requests of up to 64 KiB}
     *
     * @param capacity in bytes, 0 or more
     */
    public static MemoryBudget of(long capacity) {
        return new MemoryBudget(Setting.MEMORY_BUDGET_BYTES.check(capacity), capacity / 4, SMALL_REQUEST);
    }

    /**
     * {@return a budget}
     *
     * @param capacity in bytes, 0 or more
     * @param keptForSmall the bytes of it that only small requests may use, at most {@code capacity}
     * @param smallRequestBytes the largest total of a request that is small, in bytes, 0 or more
     */
    public static MemoryBudget of(long capacity, long keptForSmall, long smallRequestBytes) {
        return new MemoryBudget(capacity, keptForSmall, smallRequestBytes);
    }

    /** {@return a budget that refuses nothing and only counts} */
    public static MemoryBudget unlimited() {
        return new MemoryBudget(Long.MAX_VALUE, 0, SMALL_REQUEST);
    }

    /** {@return an account for one request} */
    public Account open() {
        return new Account();
    }

    /** {@return the bytes that may be held in all} */
    public long capacity() {
        return capacity;
    }

    /** {@return the largest total of a request that may use the share kept for small ones, in bytes} */
    public long smallRequestBytes() {
        return smallRequestBytes;
    }

    /** {@return the bytes held now} */
    public long used() {
        return used.get();
    }

    /** {@return the most bytes that were ever held} */
    public long peak() {
        return peak.get();
    }

    /** {@return how many reservations were refused} */
    public long refusals() {
        return refusals.get();
    }

    private boolean take(long bytes, long ceiling) {
        for (; ; ) {
            long before = used.get();
            if (bytes > ceiling - before) {
                refusals.incrementAndGet();
                return false;
            }
            if (used.compareAndSet(before, before + bytes)) {
                if (before + bytes > peak.get()) { // a fence each time costs more than the look
                    peak.accumulateAndGet(before + bytes, Math::max);
                }
                return true;
            }
        }
    }

    /**
     * {@return whether so much can be had now without the share of small requests}
     *
     * @param bytes 0 or more
     */
    public boolean hasRoom(long bytes) {
        return bytes <= room();
    }

    /** {@return how much can be had now without the share of small requests; less than 0 where they have some of it} */
    long room() {
        return capacity - keptForSmall - used.get();
    }

    /** Counts the memory of what waits to be decoded, or waits no longer. */
    void waits(long bytes) {
        waiting.addAndGet(bytes);
    }

    /** {@return how many of them wait, of all forms} */
    long waiting() {
        return waiting.get();
    }

    /**
     * {@return whether so many bytes wait to be decoded, of all forms, that none asks for more before its own have been: more
     * than an eighth of the capacity, and than 1 MiB}
     */
    boolean isCrowded() {
        return waiting() > Math.max(capacity / SHARE_THAT_WAITS, LEAST_THAT_WAITS);
    }

    /** {@return a segment of so many bytes, which were reserved; not cleared} */
    byte[] segment(int size) {
        byte[] used = size == SEGMENT ? spare.poll() : null;
        return used == null ? new byte[size] : used;
    }

    /** Takes a segment that nobody reads any more. */
    void recycle(byte[] segment) {
        if (segment.length == SEGMENT) {
            spare.offer(segment); // where there are enough it is left to the collector
        }
    }

    /** What one request holds. Thread-safe; closing gives everything back. */
    public final class Account implements AutoCloseable {
        private static final long CLOSED = -1;

        private final AtomicLong held = new AtomicLong();

        private Account() {}

        /**
         * {@return whether {@code bytes} more were reserved}
         *
         * @param bytes 0 or more
         * @throws IllegalStateException after {@link #close()}
         */
        public boolean tryReserve(long bytes) {
            requirePositive(bytes);
            for (; ; ) {
                long before = held.get();
                if (before == CLOSED) {
                    throw new IllegalStateException("the account is closed");
                }
                boolean small = bytes <= smallRequestBytes - before;
                if (!take(bytes, small ? capacity : capacity - keptForSmall)) {
                    return false;
                }
                if (held.compareAndSet(before, before + bytes)) {
                    return true;
                }
                used.addAndGet(-bytes);
            }
        }

        /**
         * Reserves {@code bytes} more.
         *
         * @param bytes 0 or more
         * @throws MultipartException if there are none
         * @throws IllegalStateException after {@link #close()}
         */
        public void reserve(long bytes) throws MultipartException {
            if (!tryReserve(bytes)) {
                throw refusal();
            }
        }

        MultipartException refusal() {
            return MultipartException.because(Reason.MEMORY_FULL)
                    .limit(capacity)
                    .build();
        }

        /**
         * Gives back some of what is held; nothing after {@link #close()}, which gave it all back.
         *
         * @param bytes 0 or more, at most what is held
         */
        public void release(long bytes) {
            requirePositive(bytes);
            for (; ; ) {
                long before = held.get();
                if (before == CLOSED) {
                    return;
                }
                if (bytes > before) {
                    throw new IllegalStateException("release of " + bytes + " bytes of " + before);
                }
                if (held.compareAndSet(before, before - bytes)) {
                    used.addAndGet(-bytes);
                    return;
                }
            }
        }

        private static void requirePositive(long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("bytes is " + bytes + ", must be 0 or more");
            }
        }

        /** {@return the bytes held} */
        public long held() {
            return Math.max(held.get(), 0);
        }

        /** Gives everything back; idempotent, and safe beside calls of other threads. */
        @Override
        public void close() {
            long before = held.getAndSet(CLOSED);
            if (before != CLOSED) {
                used.addAndGet(-before);
            }
        }
    }
}
