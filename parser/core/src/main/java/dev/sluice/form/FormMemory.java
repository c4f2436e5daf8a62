package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/** The memory of one form: a limit of its own, and an account with the budget of the process. */
final class FormMemory implements AutoCloseable {
    /** Can make room. */
    interface Evictor {
        /** Moves something out of memory. {@return false if there is nothing left to move} */
        boolean evict() throws IOException;
    }

    private final MemoryBudget budget;
    private final MemoryBudget.Account account;
    private final long max;
    private final AtomicLong held = new AtomicLong();
    private long peak;
    private boolean overLimit;
    private Evictor evictor = () -> false;

    FormMemory(MemoryBudget budget, long max) {
        this.budget = budget;
        this.account = budget.open();
        this.max = max;
    }

    /** {@return memory for something that is to outlive this form} */
    FormMemory another() {
        return new FormMemory(budget, Long.MAX_VALUE);
    }

    boolean tryReserve(long bytes) {
        overLimit = bytes > max - held.get();
        if (overLimit || !account.tryReserve(bytes)) {
            return false;
        }
        peak = Math.max(peak, held.addAndGet(bytes));
        return true;
    }

    /** Says who makes room for what has to be in memory. */
    void evictor(Evictor value) {
        evictor = value;
    }

    /** As {@link #tryReserve}, for what has to be in memory: what need not be has to give way. */
    boolean reserveOrEvict(long bytes) throws IOException {
        while (!tryReserve(bytes)) {
            if (!evictor.evict()) {
                return false;
            }
        }
        return true;
    }

    /** {@return what to throw when the reservation just tried, after {@code size} bytes of the part, was refused} */
    MultipartException refusal(PartHead head, long size) {
        return overLimit
                ? head.because(Reason.IN_MEMORY_TOO_LARGE)
                        .at(head.offset() + size)
                        .limit(max)
                        .build()
                : account.refusal();
    }

    /** Reserves what does not count for the limit of the form, but for that of the process. */
    void reserveForProcess(long bytes) throws MultipartException {
        account.reserve(bytes);
    }

    void releaseForProcess(long bytes) {
        account.release(bytes);
    }

    /** Reserves where only the process has a limit. */
    void reserve(long bytes) throws MultipartException {
        account.reserve(bytes);
        held.addAndGet(bytes);
    }

    void release(long bytes) {
        held.addAndGet(-bytes);
        account.release(bytes);
    }

    long peak() {
        return peak;
    }

    @Override
    public void close() {
        account.close();
    }
}
