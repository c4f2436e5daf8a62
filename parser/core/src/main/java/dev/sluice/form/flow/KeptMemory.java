package dev.sluice.form.flow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;

/**
 * The memory that a buffer keeps in use until it is released.
 *
 * <p>A transport reads into a buffer of 2 to 64 KiB, and codecs cut slices from it. A slice has its own indices, and sometimes its own
 * reference count, but it keeps the whole buffer that it was cut from. A slice of one byte may therefore keep 64 KiB. The buffer at the end
 * of the chain of {@link ByteBuf#unwrap} is the <em>root</em>. Duplicates, read-only views and the wrappers of leak detection are in the
 * same chain. A composite buffer is a root that keeps the roots of all its components, and a slice of it does so, too. If two components
 * have the same root, it counts twice.
 *
 * <p>The cost of a buffer depends on its root only. The reference count of the root does not matter, because codecs and other slices may
 * release their references at any time. The slices of a full network read have the same root, and a queue must not count it for each of
 * them. Slices are cut and queued in order, so a queue compares each buffer with its neighbour.
 *
 * <p>The memory of a root is the capacity to which it can grow in place, including the bytes that the allocator adds when it rounds up. The
 * current capacity is not constant: a codec may append the next read to a root whose slices are queued. The allocator may keep the memory
 * of a released root for later buffers. For a composite buffer of an unknown class, the memory is its capacity.
 */
public final class KeptMemory {
    private KeptMemory() {}

    /** {@return the buffer whose memory {@code buffer} keeps} */
    public static ByteBuf root(ByteBuf buffer) {
        ByteBuf root = buffer;
        for (ByteBuf inner; (inner = root.unwrap()) != null; ) {
            root = inner;
        }
        return root;
    }

    /** {@return the number of bytes of memory that {@code buffer} keeps} */
    public static long of(ByteBuf buffer) {
        ByteBuf root = root(buffer);
        if (!(root instanceof CompositeByteBuf components)) {
            return root.writerIndex() + root.maxFastWritableBytes();
        }
        long sum = 0;
        for (ByteBuf component : components) {
            sum += of(component);
        }
        return sum;
    }

    /**
     * {@return a copy of the readable bytes of {@code buffer} if at most half of the memory that it keeps was written, otherwise the buffer
     * itself} The buffer is <em>transferred</em>, and so is the result. A root is not copied, because it may be a read buffer that is about
     * to be used again. If there is no memory for a copy, the buffer is returned.
     */
    public static ByteBuf compact(ByteBuf buffer) {
        ByteBuf root = root(buffer);
        long kept = of(root);
        if (buffer.capacity() == root.capacity() || 2L * root.writerIndex() > kept) {
            return buffer;
        }
        int size = buffer.readableBytes();
        ByteBuf copy;
        try {
            copy = buffer.alloc().buffer(size, size);
        } catch (OutOfMemoryError e) {
            return buffer;
        }
        copy.writeBytes(buffer, buffer.readerIndex(), size);
        buffer.release();
        return copy;
    }
}
