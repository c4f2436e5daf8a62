package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Direct access to the memory of the chunk that is being read. A decoder uses one instance for all chunks in turn. Not thread-safe.
 *
 * <h2>Access paths</h2>
 *
 * <p>{@link #open} looks up the memory of a chunk once, so that reading a byte runs none of Netty's checks and leaves no leak record. It
 * chooses the first path that is possible:
 *
 * <ol>
 *   <li>A buffer with an array, read-only or not: the array. Opening allocates nothing.
 *   <li>A direct buffer that is not derived from another one: its internal NIO buffer. Opening allocates nothing once Netty has created
 *       that buffer.
 *   <li>Any other direct buffer over contiguous memory, such as a slice, a duplicate, a read-only view or a composite of one component: an
 *       NIO view of the whole memory, created for this object. The internal buffer of the underlying memory cannot be used here, because
 *       the thread that receives from the network may be changing the position of that buffer at the same time. The view stays cached when
 *       the chunk is closed, and serves later chunks over the same memory. Opening allocates two small objects for each new piece of
 *       memory, or for each chunk if Netty does not provide the memory address.
 *   <li>Everything else, such as a composite of several components: the {@link ByteBuf} itself, byte by byte and with its own searches. The
 *       components of an unmodifiable composite keep their leak-aware wrappers, so reading such a chunk leaves leak records.
 * </ol>
 *
 * <h2>Rules</h2>
 *
 * <p>A chunk is read between the reader index and the writer index that it had at {@link #open}; other indices throw
 * {@link IndexOutOfBoundsException}. The bytes and the indices of a chunk are never changed. All indices in this class are indices of the
 * chunk; {@link #shift} converts them to indices of the memory.
 *
 * <p>Array-backed and direct chunks have separate fields and separate kernels ({@link ArrayKernel}, {@link ViewKernel}). If one loop
 * handled heap and direct NIO buffers, the JIT would compile it to code that is half as fast.
 */
public final class ChunkMemory {
    /** The distance between the words that {@link #mayHaveWord} reads, in bytes. */
    public static final int WORD_STRIDE = ArrayKernel.WORD_STRIDE;

    private static final ByteBuffer EMPTY = ByteBuffer.allocateDirect(0);

    private @Nullable ByteBuf chunk;
    private @Nullable ByteBuf inner;
    private byte @Nullable [] array;

    /** A view of direct memory; never of an array. */
    private @Nullable ByteBuffer view;

    /** Added to an index of the chunk, it gives the index of the same byte in the array or view. */
    private int shift;

    /** The view that was created last, for this or an earlier chunk. Its memory may have been freed or reused since. */
    private ByteBuffer cachedView = EMPTY;

    private long cachedAddress;

    private int viewLimit;
    private int start;
    private int end;

    /** Whether the wrapper of the chunk adds a leak record for most calls. */
    private boolean recordsAccess;

    /** Creates an object without a chunk. */
    public ChunkMemory() {}

    /**
     * Opens a chunk for reading.
     *
     * @param next <em>transferred</em>: released by {@link #close}, or at once if this method throws
     * @throws IllegalStateException if a chunk is open
     * @throws IllegalReferenceCountException if the chunk has been released already
     */
    public void open(ByteBuf next) {
        try {
            borrow(next);
        } catch (RuntimeException | Error e) {
            next.release(); // throws an IllegalReferenceCountException if the chunk has been released already
            throw e;
        }
    }

    /**
     * Opens a chunk for reading, which ends with {@link #detach}. The chunk is not retained, because that would take longer
     * than some searches.
     *
     * @param next <em>borrowed</em> until {@link #detach}
     * @throws IllegalStateException if a chunk is open
     * @throws IllegalReferenceCountException if the chunk has been released already
     */
    public void borrow(ByteBuf next) {
        if (chunk != null) {
            throw new IllegalStateException("a chunk is already open");
        }
        if (next.refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        try {
            attach(next);
        } catch (RuntimeException | Error e) { // an OutOfMemoryError, or thrown by a ByteBuf that is not Netty's
            detach();
            throw e;
        }
        chunk = next;
    }

    private void attach(ByteBuf next) {
        ByteBuf memory = Wrappers.unwrap(next);
        ByteBuf writable = Wrappers.unwrapReadOnly(memory);
        int from = next.readerIndex();
        int to = next.writerIndex();
        if (writable.hasArray()) {
            array = writable.array();
            shift = writable.arrayOffset();
        } else if (memory.isDirect() && memory.nioBufferCount() == 1) {
            boolean ownsMemory = memory.unwrap() == null && memory.isContiguous(); // a composite is not contiguous
            ByteBuffer nio =
                    ownsMemory ? setShift(memory.internalNioBuffer(from, to - from), from) : ownView(memory, from, to);
            viewLimit = nio.limit();
            view = nio;
        }
        inner = memory;
        recordsAccess = Wrappers.records(next);
        start = from;
        end = to;
    }

    /** {@return a view that only this object uses, so that no other code changes its position and limit} Sets {@link #shift}. */
    private ByteBuffer ownView(ByteBuf memory, int from, int to) {
        if (memory.hasMemoryAddress()) {
            long address = memory.memoryAddress();
            if (!cacheCovers(address + from, address + to)) {
                cacheViewOf(memory);
            }
            if (cacheCovers(address + from, address + to)) { // true for all buffers created by Netty
                shift = (int) (address - cachedAddress);
                return cachedView;
            }
        }
        return setShift(memory.nioBuffer(from, to - from), from);
    }

    private ByteBuffer setShift(ByteBuffer nio, int from) {
        shift = nio.position() - from;
        return nio;
    }

    private void cacheViewOf(ByteBuf derived) {
        ByteBuf whole = derived;
        for (ByteBuf next = whole; next != null && next.hasMemoryAddress(); next = next.unwrap()) {
            whole = next;
        }
        cachedView = whole.nioBuffer(0, whole.capacity());
        cachedAddress = whole.memoryAddress();
    }

    private boolean cacheCovers(long from, long to) {
        return from >= cachedAddress
                && to <= cachedAddress + cachedView.capacity()
                && isReadable(cachedView, (int) (from - cachedAddress));
    }

    /**
     * {@return whether the memory of the view can be read; false if the JDK detects that the memory has been freed}
     *
     * @param index the index in the view of a byte of the chunk that is being opened. For other bytes, the JDK may not detect that they
     *     were freed, and the JVM may crash
     */
    static boolean isReadable(ByteBuffer view, int index) {
        try {
            view.get(index);
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    public boolean isOpen() {
        return chunk != null;
    }

    /** {@return the reader index of the chunk when it was opened; 0 without a chunk} */
    public int start() {
        return start;
    }

    /** {@return the writer index of the chunk when it was opened; 0 without a chunk} */
    public int end() {
        return end;
    }

    /** {@return the byte at {@code index} of the chunk} */
    public byte getByte(int index) {
        if (index < start || index >= end) {
            throw new IndexOutOfBoundsException("index " + index + " is not within [" + start + ", " + end + ")");
        }
        byte[] heap = array;
        return heap != null ? heap[index + shift] : getByteSlowly(index);
    }

    private byte getByteSlowly(int index) {
        ByteBuffer direct = view;
        return direct != null ? direct.get(index + shift) : inner().getByte(index);
    }

    /** Copies {@code length} bytes, starting at {@code index} of the chunk. */
    public void copyTo(int index, byte[] target, int targetIndex, int length) {
        check(index, index + length);
        byte[] heap = array;
        ByteBuffer direct = view;
        if (heap != null) {
            System.arraycopy(heap, index + shift, target, targetIndex, length);
        } else if (direct != null) {
            direct.get(index + shift, target, targetIndex, length);
        } else {
            inner().getBytes(index, target, targetIndex, length);
        }
    }

    /**
     * {@return a view of a range of the chunk, <em>borrowed</em> until {@link #close}; retain it to keep it}
     *
     * <p>At the leak detection levels that record accesses, each retain records the part and the offset.
     *
     * @param index the index of the first byte in the chunk
     * @param partIndex the 0-based index of the part
     * @param offset the position of the first byte in the multipart body
     */
    public ByteBuf slice(int index, int length, int partIndex, long offset) {
        check(index, index + length);
        return recordsAccess
                ? new TrackedSlice(inner().slice(index, length), chunk(), partIndex, offset)
                : chunk().slice(index, length);
    }

    ByteBuf chunk() {
        return Objects.requireNonNullElseGet(chunk, ChunkMemory::noChunk);
    }

    /**
     * Restores the limit of the internal NIO buffer. Must be called before reading if other code had access to the chunk, because
     * that code may have changed the limit.
     */
    public void refresh() {
        ByteBuffer direct = view;
        if (direct != null) {
            direct.limit(viewLimit);
        }
    }

    /** Releases the chunk. Idempotent. */
    public void close() {
        ByteBuf open = chunk;
        if (open != null) {
            detach();
            open.release();
        }
    }

    /** Ends reading without releasing the chunk. Idempotent. */
    public void detach() {
        chunk = null;
        inner = null;
        array = null;
        view = null;
        recordsAccess = false;
        start = 0;
        end = 0;
    }

    /** Checks that {@code from <= to} and that both are within the chunk. */
    void check(int from, int to) {
        if (from < start || to > end || from > to) {
            throw new IndexOutOfBoundsException(
                    "range [" + from + ", " + to + ") is not within [" + start + ", " + end + ")");
        }
    }

    /** {@return whether the memory is an array or an NIO view, which the kernels can search} */
    boolean isFlat() {
        return array != null || view != null;
    }

    /** {@return whether the chunk is flat, and {@code to} is at most {@code last}, as an index of the chunk and of its memory} */
    boolean isFlatUpTo(int to, int last) {
        return isFlat() && to <= last - Math.max(0, shift);
    }

    /** Runs {@link ArrayKernel#pairs}, or the same loop of {@link ViewKernel}, on a flat chunk. */
    int pairs(int i, int limit, int distance, long first, long last) {
        byte[] heap = array;
        return heap != null
                ? ArrayKernel.pairs(heap, i + shift, limit + shift, distance, first, last) - shift
                : ViewKernel.pairs(view(), i + shift, limit + shift, distance, first, last) - shift;
    }

    /** {@return the smallest number of bytes for which {@link #anyPair} is worth a call on a flat chunk} */
    int minPassLength() {
        return array != null ? ArrayKernel.MIN_PASS_LENGTH : ViewKernel.MIN_PASS_LENGTH;
    }

    /** Runs {@link ArrayKernel#anyPair}, or the same loop of {@link ViewKernel}, on a flat chunk. */
    boolean anyPair(int i, int end, int distance, long first, long last) {
        byte[] heap = array;
        return heap != null
                ? ArrayKernel.anyPair(heap, i + shift, end + shift, distance, first, last)
                : ViewKernel.anyPair(view(), i + shift, end + shift, distance, first, last);
    }

    /** Runs {@link ArrayKernel#grams}, or the same loop of {@link ViewKernel}, on a flat chunk. */
    int grams(int q, int to, int stride, Grams set) {
        byte[] heap = array;
        return heap != null
                ? ArrayKernel.grams(heap, q + shift, to + shift, stride, set) - shift
                : ViewKernel.grams(view(), q + shift, to + shift, stride, set) - shift;
    }

    /**
     * {@return whether one of the 8-byte words at {@code from}, {@code from + WORD_STRIDE}, and so on is equal to {@code value} in the
     * bits of {@code mask}} Returns true without a check if the words cannot be read quickly.
     *
     * @param to the index after the last byte of the last word
     */
    public boolean mayHaveWord(int from, int to, long mask, long value) {
        check(from, to);
        if (!isFlatUpTo(to, DelimiterSearch.MAX_KERNEL_INDEX)) {
            return true;
        }
        byte[] heap = array;
        return heap != null
                ? ArrayKernel.anyWord(heap, from + shift, to + shift, mask, value)
                : ViewKernel.anyWord(view(), from + shift, to + shift, mask, value);
    }

    /**
     * {@return the first index in [i, to) of a CR or LF, or {@code to}}
     *
     * <p>In a chunk that is not flat, a line break is found only if a dash follows it, or if it is the last byte.
     */
    int indexOfBreak(int i, int to) {
        byte[] heap = array;
        ByteBuffer direct = view;
        if (heap != null) {
            return ArrayKernel.indexOfBreak(heap, i + shift, to + shift) - shift;
        }
        if (direct != null) {
            return ViewKernel.indexOfBreak(direct, i + shift, to + shift) - shift;
        }
        ByteBuf general = inner();
        int last = to - 1;
        int at = i;
        while (at < last) {
            int before = general.bytesBefore(at + 1, last - at, (byte) '-');
            at = before < 0 ? last : at + before;
            if (isBreak(general.getByte(at))) {
                return at;
            }
            at++;
        }
        return at == last && isBreak(general.getByte(at)) ? at : to;
    }

    private static boolean isBreak(byte b) {
        return b == '\r' || b == '\n';
    }

    /**
     * {@return the length of the common prefix of the chunk at index {@code i} and of {@code text} at index {@code from}; at most
     * {@code length}}
     */
    int matching(int i, byte[] text, int from, int length) {
        byte[] heap = array;
        ByteBuffer direct = view;
        if (heap != null) {
            return ArrayKernel.matching(heap, i + shift, text, from, length);
        }
        if (direct != null) {
            return ViewKernel.matching(direct, i + shift, text, from, length);
        }
        ByteBuf general = inner();
        int k = 0;
        while (k < length && general.getByte(i + k) == text[from + k]) {
            k++;
        }
        return k;
    }

    private ByteBuf inner() {
        return Objects.requireNonNullElseGet(inner, ChunkMemory::noChunk);
    }

    private ByteBuffer view() {
        return Objects.requireNonNull(view);
    }

    private static ByteBuf noChunk() {
        throw new IllegalStateException("no chunk is open");
    }
}
