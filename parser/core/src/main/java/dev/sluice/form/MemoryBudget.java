package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Setting;
import dev.sluice.form.flow.WaitingMemory;
import dev.sluice.form.storage.SegmentPool;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A limit on the memory that all uploads of a process hold together. Create one per process and share it. Thread-safe, without locks.
 *
 * <p><b>Reservations.</b> Memory is reserved before it is allocated, and a reservation that would exceed the capacity fails. Each request
 * has an {@link Account}. The account is closed when the request ends, which releases everything that is still reserved.
 *
 * <p><b>Charges.</b> A form charges the buffers of its parts in memory, the chunk that is being decoded, and the maximum size of one header
 * section. Each of its parts adds 512 bytes, the size of its header section, and 2 bytes for each character of its name and file name; a
 * part that goes to a sink or is skipped without a status adds them until it ends. A {@link PartPipe} charges the bytes that wait for its
 * consumer. Chunks that wait to be decoded are not charged, but an adapter can charge them to an account. If the waiting chunks of all
 * forms take more than 1 MiB and more than an eighth of the capacity, a form requests no more bytes until its own chunks are decoded.
 *
 * <p><b>Small requests.</b> A share of the capacity is kept for small requests, so that a few large ones cannot lock them out. Only an
 * account that holds at most {@link #smallRequestBytes()} after a reservation may use this share.
 *
 * <p><b>Reuse.</b> Up to 1 MiB of released memory is kept for later parts, because it is probably still in the processor's cache.
 * The kept memory is not charged.
 */
public final class MemoryBudget {
    private static final long SMALL_REQUEST = 64 << 10;

    private final long capacity;
    private final long keptForSmall;
    private final long smallRequestBytes;
    private final AtomicLong used = new AtomicLong();
    private final AtomicLong peak = new AtomicLong();
    private final AtomicLong refusals = new AtomicLong();
    final WaitingMemory waiting;
    final SegmentPool segments = new SegmentPool();

    private MemoryBudget(long capacity, long keptForSmall, long smallRequestBytes) {
        if (capacity < 0 || keptForSmall < 0 || keptForSmall > capacity || smallRequestBytes < 0) {
            throw new IllegalArgumentException(
                    "capacity " + capacity + ", kept for small requests " + keptForSmall + ", small request "
                            + smallRequestBytes + ": all must be 0 or more, and the share at most the capacity");
        }
        this.capacity = capacity;
        this.keptForSmall = keptForSmall;
        this.smallRequestBytes = smallRequestBytes;
        this.waiting = new WaitingMemory(capacity);
    }

    /**
     * {@return a budget that keeps a quarter of its capacity for requests of up to 64 KiB}
     *
     * @param capacity the size of the budget in bytes, 0 or more
     */
    public static MemoryBudget of(long capacity) {
        long keptForSmall = capacity == Long.MAX_VALUE ? 0 : capacity / 4;
        return new MemoryBudget(Setting.MEMORY_BUDGET_BYTES.check(capacity), keptForSmall, SMALL_REQUEST);
    }

    /**
     * {@return a budget}
     *
     * @param capacity the size of the budget in bytes, 0 or more
     * @param keptForSmall the part of the capacity that only small requests may use, in bytes, at most {@code capacity}
     * @param smallRequestBytes the number of bytes that a small request holds at most, 0 or more
     */
    public static MemoryBudget of(long capacity, long keptForSmall, long smallRequestBytes) {
        return new MemoryBudget(capacity, keptForSmall, smallRequestBytes);
    }

    /**
     * {@return a budget whose size is given as text, in the syntax of {@link Setting#MEMORY_BUDGET_BYTES}; a quarter of the heap if
     * the text is null}
     *
     * @throws IllegalArgumentException if the text is malformed
     */
    public static MemoryBudget parse(@Nullable String size) {
        Setting setting = Setting.MEMORY_BUDGET_BYTES;
        return of(size == null ? setting.formDefault() : (long) setting.parse(size));
    }

    /** {@return a budget without a limit, which only counts reservations} */
    public static MemoryBudget unlimited() {
        return of(Long.MAX_VALUE);
    }

    /** {@return an account for one request} */
    public Account open() {
        return new Account();
    }

    /** {@return the largest number of bytes that can be reserved at the same time} */
    public long capacity() {
        return capacity;
    }

    /** {@return the number of bytes that a small request holds at most} */
    public long smallRequestBytes() {
        return smallRequestBytes;
    }

    /** {@return the number of bytes that are currently reserved} */
    public long used() {
        return used.get();
    }

    /** {@return the largest number of bytes reserved at the same time so far} */
    public long peak() {
        return peak.get();
    }

    /** {@return the number of reservations that failed} */
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
                if (before + bytes > peak.get()) { // reading first avoids a fence on every reservation
                    peak.accumulateAndGet(before + bytes, Math::max);
                }
                return true;
            }
        }
    }

    /**
     * {@return whether {@code bytes} are currently available, without the share for small requests}
     *
     * @param bytes the number of bytes, 0 or more
     */
    public boolean hasRoom(long bytes) {
        return bytes <= room();
    }

    /**
     * {@return the number of bytes that are currently available, without the share for small requests; negative if part
     * of that share is in use}
     */
    public long room() {
        return capacity - keptForSmall - used.get();
    }

    /** The reservations of one request. Thread-safe. Closing releases everything. */
    public final class Account implements AutoCloseable {
        private static final long CLOSED = -1;

        private final AtomicLong held = new AtomicLong();

        private Account() {}

        /**
         * Reserves {@code bytes} more, if they are available.
         *
         * @param bytes the number of bytes, 0 or more
         * @return whether the bytes were available
         * @throws IllegalStateException after {@link #close()}
         */
        public boolean tryReserve(long bytes) {
            requireNotNegative(bytes);
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
         * @param bytes the number of bytes, 0 or more
         * @throws MultipartException if the bytes are not available
         * @throws IllegalStateException after {@link #close()}
         */
        public void reserve(long bytes) throws MultipartException {
            if (!tryReserve(bytes)) {
                throw MultipartException.because(Reason.MEMORY_FULL)
                        .limit(capacity)
                        .build();
            }
        }

        /**
         * Releases some of the reserved bytes. Has no effect after {@link #close()}.
         *
         * @param bytes the number of bytes, 0 or more, at most {@link #held()}
         */
        public void release(long bytes) {
            requireNotNegative(bytes);
            for (; ; ) {
                long before = held.get();
                if (before == CLOSED) {
                    return;
                }
                if (bytes > before) {
                    throw new IllegalStateException(
                            "cannot release " + bytes + " bytes: only " + before + " are reserved");
                }
                if (held.compareAndSet(before, before - bytes)) {
                    used.addAndGet(-bytes);
                    return;
                }
            }
        }

        private static void requireNotNegative(long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("bytes is " + bytes + ", must be 0 or more");
            }
        }

        /** {@return the number of bytes that this account has reserved} */
        public long held() {
            return Math.max(held.get(), 0);
        }

        /** Releases everything. Idempotent. Other threads may use the account at the same time. */
        @Override
        public void close() {
            long before = held.getAndSet(CLOSED);
            if (before != CLOSED) {
                used.addAndGet(-before);
            }
        }
    }
}
