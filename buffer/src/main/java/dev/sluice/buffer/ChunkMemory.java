package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The one chunk being read, and the memory behind it, which is looked up once per chunk. One object serves every chunk
 * in turn. Not thread-safe.
 *
 * <p>Which path a chunk takes, from fast to slow:
 *
 * <ol>
 *   <li>memory in an array, read-only or not: the array. Opening allocates nothing.
 *   <li>a direct buffer as its allocator made it: its own internal NIO buffer. Opening allocates nothing once netty has
 *       made that.
 *   <li>other direct buffers over one piece of memory (slices, duplicates, read-only views, a composite buffer of one
 *       component): an NIO view of all of that piece, made for this object alone, because the one that netty keeps belongs
 *       to whoever reads from the network into it. The view, not the memory, is kept when the chunk is closed: it serves
 *       all chunks over that piece. Two small objects per piece; or per chunk, where netty cannot tell the address.
 *   <li>all others (composite buffers of several components): the {@link ByteBuf} itself, with its own searches and
 *       byte by byte. An unmodifiable composite keeps its components' leak-aware wrappers, and they record.
 * </ol>
 *
 * <p>Netty's leak-aware wrappers are looked through: reading leaves no leak record. Only bytes between the reader and
 * the writer index at the time of {@link #open} are read, others are an {@link IndexOutOfBoundsException}; the chunk's bytes and
 * indices are never changed.
 */
public final class ChunkMemory {
    private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(0);

    private @Nullable ByteBuf chunk;
    private @Nullable ByteBuf inner;
    private byte @Nullable [] array;

    /** Direct memory only: loops that also met buffers over arrays would be compiled to code half as fast. */
    private @Nullable ByteBuffer view;

    /** What to add to an index of the chunk to get the index in the array or the view. */
    private int shift;

    /** What the last chunks that were no roots are parts of. By now it may be given back, or be part of something else. */
    private ByteBuffer kept = NOTHING;

    private long keptAddress;

    private int viewLimit;
    private int start;
    private int end;
    private boolean records;

    /** Makes an object without a chunk. */
    public ChunkMemory() {}

    /**
     * Takes a chunk.
     *
     * @param next <em>transferred</em>: released by {@link #close}, or at once if this method throws
     * @throws IllegalStateException if a chunk is open
     * @throws IllegalReferenceCountException if the chunk has been released already
     */
    public void open(ByteBuf next) {
        if (chunk != null) {
            next.release();
            throw new IllegalStateException("a chunk is open");
        }
        if (next.refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        try {
            look(next);
        } catch (RuntimeException e) { // of a buffer of another make
            forget();
            next.release();
            throw e;
        }
        chunk = next;
    }

    private void look(ByteBuf next) {
        ByteBuf memory = Wrappers.unwrap(next);
        ByteBuf writable = Wrappers.behindReadOnly(memory);
        int from = next.readerIndex();
        int to = next.writerIndex();
        if (writable.hasArray()) {
            array = writable.array();
            shift = writable.arrayOffset();
        } else if (memory.isDirect() && memory.nioBufferCount() == 1) {
            // The internal buffer of a derived or composite buffer would be that of a root others may use at the same
            // time.
            boolean root = memory.unwrap() == null && memory.isContiguous();
            ByteBuffer seen = root ? based(memory.internalNioBuffer(from, to - from), from) : shared(memory, from, to);
            viewLimit = seen.limit();
            view = seen;
        }
        inner = memory;
        records = Wrappers.records(next);
        start = from;
        end = to;
    }

    /** {@return a view of memory that others may be using too, which nobody else moves; sets {@link #shift}} */
    private ByteBuffer shared(ByteBuf memory, int from, int to) {
        if (memory.hasMemoryAddress()) {
            long address = memory.memoryAddress();
            if (!keeps(address + from, address + to)) {
                keep(memory);
            }
            if (keeps(address + from, address + to)) { // as with all buffers that netty makes
                shift = (int) (address - keptAddress);
                return kept;
            }
        }
        return based(memory.nioBuffer(from, to - from), from);
    }

    private ByteBuffer based(ByteBuffer seen, int from) {
        shift = seen.position() - from;
        return seen;
    }

    private void keep(ByteBuf derived) {
        ByteBuf whole = derived;
        for (ByteBuf next = whole; next != null && next.hasMemoryAddress(); next = next.unwrap()) {
            whole = next;
        }
        kept = whole.nioBuffer(0, whole.capacity());
        keptAddress = whole.memoryAddress();
    }

    private boolean keeps(long from, long to) {
        return from >= keptAddress && to <= keptAddress + kept.capacity() && isThere(kept, (int) (from - keptAddress));
    }

    /**
     * {@return false for a view of memory that was given back with its arena, which a JDK notices}
     *
     * @param index of a byte of the open chunk: others may be gone without the JDK's noticing, and not be readable
     */
    static boolean isThere(ByteBuffer view, int index) {
        try {
            view.get(index);
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    /** {@return whether there is a chunk} */
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

    /** {@return the byte at an absolute index in the chunk} */
    public byte getByte(int index) {
        if (index < start || index >= end) {
            throw new IndexOutOfBoundsException("index " + index + " is not within " + start + " and " + end);
        }
        byte[] heap = array;
        return heap != null ? heap[index + shift] : getByteSlowly(index);
    }

    private byte getByteSlowly(int index) {
        ByteBuffer direct = view;
        return direct != null ? direct.get(index + shift) : inner().getByte(index);
    }

    /** Copies bytes from an absolute index in the chunk on. */
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
     * {@return a view of a part of the chunk; <em>borrowed</em> until {@link #close}, to be retained to be kept: where leak
     * detection records, that leaves a record that names the part and the offset}
     *
     * @param index absolute index in the chunk
     * @param partIndex 0-based
     * @param offset of the first byte, from the start of the multipart body
     */
    public ByteBuf slice(int index, int length, int partIndex, long offset) {
        check(index, index + length);
        return records
                ? new TrackedSlice(inner().slice(index, length), chunk(), partIndex, offset)
                : chunk().slice(index, length);
    }

    /**
     * {@return the chunk as it was opened, <em>borrowed</em>}
     *
     * @throws IllegalStateException if no chunk is open
     */
    public ByteBuf chunk() {
        return Objects.requireNonNullElseGet(chunk, ChunkMemory::none);
    }

    /**
     * To be called before reading after other code has had the chunk in its hands: it may have moved the limit of the
     * internal NIO buffer that is read here.
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
            forget();
            open.release();
        }
    }

    private void forget() {
        chunk = null;
        inner = null;
        array = null;
        view = null;
        records = false;
        start = 0;
        end = 0;
    }

    /** Makes sure that {@code from <= to} are within the chunk. */
    void check(int from, int to) {
        if (from < start || to > end || from > to) {
            throw new IndexOutOfBoundsException(
                    "range " + from + " to " + to + " is not within " + start + " and " + end);
        }
    }

    /** {@return whether there is an array or an NIO view, so that the kernels can run} */
    boolean isFlat() {
        return array != null || view != null;
    }

    /** {@return whether it is flat, and {@code to} at most {@code last}, in the chunk and in the memory behind it} */
    boolean isFlatUpTo(int to, int last) {
        return isFlat() && to <= last - Math.max(0, shift);
    }

    /** {@link ArrayKernel#pairs} on a flat chunk. */
    int pairs(int i, int limit, int distance, long first, long last) {
        byte[] heap = array;
        return heap != null
                ? ArrayKernel.pairs(heap, i + shift, limit + shift, distance, first, last) - shift
                : ViewKernel.pairs(view(), i + shift, limit + shift, distance, first, last) - shift;
    }

    /** {@return bytes from which on {@link #anyPair} is worth a call on a flat chunk} */
    int leastOfPass() {
        return array != null ? ArrayKernel.LEAST_OF_PASS : ViewKernel.LEAST_OF_PASS;
    }

    /** {@link ArrayKernel#anyPair} on a flat chunk. */
    boolean anyPair(int i, int end, int distance, long first, long last) {
        byte[] heap = array;
        return heap != null
                ? ArrayKernel.anyPair(heap, i + shift, end + shift, distance, first, last)
                : ViewKernel.anyPair(view(), i + shift, end + shift, distance, first, last);
    }

    /** {@link ArrayKernel#grams} on a flat chunk. */
    int grams(int q, int to, int stride, long[] set) {
        byte[] heap = array;
        return heap != null
                ? ArrayKernel.grams(heap, q + shift, to + shift, stride, set) - shift
                : ViewKernel.grams(view(), q + shift, to + shift, stride, set) - shift;
    }

    /**
     * {@return the first index in [i, to) of a CR or LF, or {@code to}; in a chunk that is not flat it may leave out those that
     * no dash follows within the range, but for the last byte}
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
     * {@return how many bytes from index i on equal those of the text from {@code from} on, at most {@code length}}
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
        return Objects.requireNonNullElseGet(inner, ChunkMemory::none);
    }

    private ByteBuffer view() {
        return Objects.requireNonNull(view);
    }

    private static ByteBuf none() {
        throw new IllegalStateException("no chunk is open");
    }
}
