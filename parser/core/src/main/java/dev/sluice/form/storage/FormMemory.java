package dev.sluice.form.storage;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.form.MemoryBudget;
import dev.sluice.header.TransferEncoding;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The memory of one form: its limit, its account with the budget of the process, and the files to which parts move when
 * memory runs short.
 *
 * <p>Parts and their overhead count against both the limit and the budget. Chunks and header sections that are being decoded count against
 * the budget only. Up to 8 KiB more than requested is reserved from the budget, so that forms update the shared counters of the budget less
 * often: see {@link #releaseAhead}. The number of files is limited, because a small body could otherwise create thousands.
 *
 * <p>Confined to the decoding thread, except for {@link #release} and {@link #close}.
 */
public final class FormMemory implements AutoCloseable {
    private static final long RESERVED_AHEAD = 8 << 10;

    /** A callback that moves parts from memory to files. */
    public interface RoomMaker {
        /**
         * Moves one part to a file, if moving parts can release at least {@code missing} bytes.
         *
         * @return whether a part was moved
         */
        boolean makeRoom(long missing) throws IOException;
    }

    final SegmentPool segments;
    private final @Nullable Spool spool;
    private final long maxFiles;
    private final RoomMaker roomMaker;
    private final MemoryBudget budget;
    private final MemoryBudget.Account account;
    private final long max;
    /** Bytes charged to the budget but not to the limit of the form. */
    private long outsideLimit;

    /** Bytes reserved from the budget and not used yet. */
    private long reservedAhead;

    /** Guards the content in memory. All parts share it, because a lock can be larger than a small part. */
    final ReentrantLock lock = new ReentrantLock();

    private long peak;
    private boolean overLimit;
    private long filesMade;

    /**
     * Creates the memory of a form and opens its account.
     *
     * @param spool the directory for the files, or null without files
     * @param roomMaker the callback that makes room for bytes that must be in memory
     */
    public FormMemory(
            MemoryBudget budget,
            SegmentPool segments,
            long maxBytes,
            @Nullable Spool spool,
            long maxFiles,
            RoomMaker roomMaker) {
        this.budget = budget;
        this.segments = segments;
        this.max = maxBytes;
        this.spool = spool;
        this.maxFiles = maxFiles;
        this.roomMaker = roomMaker;
        this.account = budget.open();
    }

    /** {@return memory for content that outlives this form, with its own account} */
    FormMemory detached() {
        return new FormMemory(budget, segments, Long.MAX_VALUE, null, 0, missing -> false);
    }

    public boolean hasFiles() {
        return spool != null;
    }

    /** {@return whether the form may create one more file} */
    public boolean hasRoomForFile() {
        return hasFiles() && filesMade < maxFiles;
    }

    /** {@return a new, empty file for a part} */
    SpoolFile newFile(PartHead head) throws IOException {
        Spool files = spool;
        if (files == null || !hasRoomForFile()) {
            throw head.because(Reason.TOO_MANY_FILES_ON_DISK).limit(maxFiles).build();
        }
        SpoolFile file = files.create();
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

    /** {@return the number of bytes left within the limit of the form} */
    private long left() {
        return max - (account.held() - outsideLimit - reservedAhead);
    }

    /** {@return how many of {@code bytes} the budget cannot provide now} */
    private long missing(long bytes) {
        return bytes - Math.max(budget.room(), 0);
    }

    private boolean take(long bytes) {
        long missing = bytes - reservedAhead;
        if (missing > 0 && budget.hasRoom(missing + RESERVED_AHEAD) && account.tryReserve(missing + RESERVED_AHEAD)) {
            reservedAhead = RESERVED_AHEAD;
            return true;
        }
        boolean taken = missing <= 0 || account.tryReserve(missing);
        reservedAhead = taken ? Math.max(-missing, 0) : reservedAhead;
        return taken;
    }

    /** Releases the bytes that were reserved ahead. Called when the form waits or has ended. */
    public void releaseAhead() {
        if (reservedAhead > 0) {
            account.release(reservedAhead);
            reservedAhead = 0;
        }
    }

    /**
     * Reserves bytes that must be in memory. Moves parts to files if there is no room.
     *
     * @return whether the bytes were reserved
     */
    boolean reserveMakingRoom(long bytes) throws IOException {
        while (!tryReserve(bytes)) {
            if (!roomMaker.makeRoom(overLimit ? bytes - left() : missing(bytes))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Reserves bytes for a part before its content arrives. Makes room like {@link #reserveMakingRoom}, and throws an
     * exception if there is none.
     */
    public void reserve(long bytes, PartHead head) throws IOException {
        if (!reserveMakingRoom(bytes)) {
            throw rejection(head, 0);
        }
    }

    /** {@return the exception for the last reservation, which failed after {@code size} bytes of the part} */
    MultipartException rejection(PartHead head, long size) {
        return overLimit
                ? head.because(Reason.IN_MEMORY_TOO_LARGE)
                        .at(TransferEncoding.offset(head, size))
                        .limit(max)
                        .build()
                : rejection();
    }

    /** {@return the exception for an exhausted budget} */
    MultipartException rejection() {
        return MultipartException.because(Reason.MEMORY_FULL)
                .limit(budget.capacity())
                .build();
    }

    /** Reserves bytes from the budget, but not from the limit of the form. Moves parts to files if there is no room. */
    public void reserveFromBudget(long bytes) throws IOException {
        while (!tryReserveFromBudget(bytes)) {
            if (!roomMaker.makeRoom(missing(bytes))) {
                throw rejection();
            }
        }
    }

    boolean tryReserveFromBudget(long bytes) {
        boolean taken = account.tryReserve(bytes);
        if (!taken && reservedAhead > 0) {
            releaseAhead();
            taken = account.tryReserve(bytes);
        }
        outsideLimit += taken ? bytes : 0;
        return taken;
    }

    public void releaseToBudget(long bytes) {
        account.release(bytes);
        outsideLimit -= bytes;
    }

    public void release(long bytes) {
        account.release(bytes);
    }

    public long peak() {
        return peak;
    }

    @Override
    public void close() {
        account.close();
    }
}
