package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The memory of one form: a limit of its own, an account with the budget of the process, and the files that its parts go to
 * instead: so many at most, or a small body could make thousands.
 */
final class FormMemory implements AutoCloseable {
    private static final long AHEAD = 8 << 10;

    /** Can make room. */
    interface Evictor {
        /** Moves something out of memory, if what there is can give {@code missing} bytes. {@return false if it cannot} */
        boolean evict(long missing) throws IOException;
    }

    private final FormOptions options;
    private final Evictor evictor;
    final MemoryBudget budget;
    private final MemoryBudget.Account account;
    private final long max;
    /** What is held beside the limit of the form. Of whoever puts the form together, as all that reserves. */
    private long forProcess;

    /** Reserved for what is to come: an account that all threads look at is not asked for each part. */
    private long ahead;

    /** For what is kept in memory: one for all of a form, where one for each part would cost more than the part. */
    final ReentrantLock lock = new ReentrantLock();

    private long peak;
    private boolean overLimit;
    private long filesMade;

    /** @param evictor makes room for what has to be in memory */
    FormMemory(FormOptions options, Evictor evictor) {
        this(options, options.maxInMemoryBytes(), evictor);
    }

    private FormMemory(FormOptions options, long max, Evictor evictor) {
        this.options = options;
        this.evictor = evictor;
        this.budget = options.memory();
        this.account = budget.open();
        this.max = max;
    }

    /** {@return memory for something that is to outlive this form} */
    FormMemory another() {
        return new FormMemory(options, Long.MAX_VALUE, missing -> false);
    }

    boolean hasFiles() {
        return options.spool() != null;
    }

    /** {@return whether there may be one more file} */
    boolean hasRoomForFile() {
        return hasFiles() && filesMade < options.maxFilesOnDisk();
    }

    /** {@return a new file for a part, to be written} */
    SpoolFile newFile(PartHead head) throws IOException {
        if (!hasRoomForFile()) {
            throw head.because(Reason.TOO_MANY_FILES_ON_DISK)
                    .limit(options.maxFilesOnDisk())
                    .build();
        }
        SpoolFile file = Objects.requireNonNull(options.spool()).create();
        filesMade++;
        return file;
    }

    boolean tryReserve(long bytes) {
        long left = left();
        overLimit = bytes > left;
        if (overLimit || !take(bytes)) {
            return false;
        }
        peak = Math.max(peak, max - left + bytes);
        return true;
    }

    /** {@return what the form may hold beside what it does} */
    private long left() {
        return max - (account.held() - forProcess - ahead);
    }

    /** {@return what the process lacks of {@code bytes}} */
    private long missing(long bytes) {
        return bytes - Math.max(budget.room(), 0);
    }

    private boolean take(long bytes) {
        long missing = bytes - ahead;
        if (missing > 0 && budget.hasRoom(missing + AHEAD) && account.tryReserve(missing + AHEAD)) {
            ahead = AHEAD;
            return true;
        }
        boolean taken = missing <= 0 || account.tryReserve(missing);
        ahead = taken ? Math.max(-missing, 0) : ahead;
        return taken;
    }

    /** Gives back what was reserved ahead: nothing more is to come, or not soon. */
    void settle() {
        if (ahead > 0) {
            account.release(ahead);
            ahead = 0;
        }
    }

    /** As {@link #tryReserve}, for what has to be in memory: what need not be has to give way. */
    boolean reserveOrEvict(long bytes) throws IOException {
        while (!tryReserve(bytes)) {
            if (!evictor.evict(overLimit ? bytes - left() : missing(bytes))) {
                return false;
            }
        }
        return true;
    }

    /** As {@link #reserveOrEvict}, for what comes before the content of a part. */
    void reserve(long bytes, PartHead head) throws IOException {
        if (!reserveOrEvict(bytes)) {
            throw refusal(head, 0);
        }
    }

    /** {@return what to throw when the reservation just tried, after {@code size} bytes of the part, was refused} */
    MultipartException refusal(PartHead head, long size) {
        return overLimit
                ? head.because(Reason.IN_MEMORY_TOO_LARGE)
                        .at(head.offset() + size)
                        .limit(max)
                        .build()
                : refusal();
    }

    /** {@return what to throw where the process has no memory left} */
    MultipartException refusal() {
        return account.refusal();
    }

    /** Reserves what counts for the limit of the process, not of the form: what need not be in memory has to give way. */
    void reserveForProcess(long bytes) throws IOException {
        while (!tryReserveForProcess(bytes)) {
            if (!evictor.evict(missing(bytes))) {
                throw refusal();
            }
        }
    }

    boolean tryReserveForProcess(long bytes) {
        boolean taken = account.tryReserve(bytes);
        if (!taken && ahead > 0) {
            settle();
            taken = account.tryReserve(bytes);
        }
        forProcess += taken ? bytes : 0;
        return taken;
    }

    void releaseForProcess(long bytes) {
        account.release(bytes);
        forProcess -= bytes;
    }

    void release(long bytes) {
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
