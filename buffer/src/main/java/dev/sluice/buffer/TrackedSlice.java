package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.SwappedByteBuf;
import io.netty.util.ResourceLeakHint;
import java.nio.ByteOrder;

/**
 * A slice of a leak-tracked buffer that records changes of ownership but not reads. Retain, release and touch are forwarded to the tracked
 * buffer, so that Netty's leak detection stays exact. Reads use the memory directly. Each retain records this slice as a hint, so that a
 * leak report names the part.
 *
 * <p>{@link SwappedByteBuf} is the only class that forwards every call and is public in Netty 4.1 and 4.2. It also swaps the byte order, so
 * this class passes a view with swapped byte order to it.
 */
@SuppressWarnings("deprecation") // Netty deprecated all methods about byte order
final class TrackedSlice extends SwappedByteBuf implements ResourceLeakHint {
    private final ByteBuf owner;
    private final int partIndex;
    private final long offset;

    /** @param offset the position of the first byte in the multipart body */
    TrackedSlice(ByteBuf view, ByteBuf owner, int partIndex, long offset) {
        super(swapped(view));
        this.owner = owner;
        this.partIndex = partIndex;
        this.offset = offset;
    }

    private static ByteBuf swapped(ByteBuf view) {
        return view.order(view.order() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    }

    /** @param index the index of the first byte of {@code view} in this slice */
    private ByteBuf derived(ByteBuf view, int index) {
        return new TrackedSlice(view, owner, partIndex, offset + index);
    }

    @Override
    public String toHintString() {
        return "part " + partIndex + ", offset " + offset;
    }

    @Override
    public ByteBuf retain() {
        return retain(1);
    }

    @Override
    public ByteBuf retain(int increment) {
        owner.touch(this);
        owner.retain(increment);
        return this;
    }

    @Override
    public ByteBuf touch() {
        owner.touch();
        return this;
    }

    @Override
    public ByteBuf touch(Object other) {
        owner.touch(other);
        return this;
    }

    @Override
    public boolean release() {
        return owner.release();
    }

    @Override
    public boolean release(int decrement) {
        return owner.release(decrement);
    }

    @Override
    public ByteBuf order(ByteOrder endianness) {
        return endianness == order() ? this : new SwappedByteBuf(this);
    }

    @Override
    public ByteBuf slice() {
        return derived(super.slice(), readerIndex());
    }

    @Override
    public ByteBuf slice(int index, int length) {
        return derived(super.slice(index, length), index);
    }

    @Override
    public ByteBuf duplicate() {
        return derived(super.duplicate(), 0);
    }

    @Override
    public ByteBuf readSlice(int length) {
        int index = readerIndex();
        return derived(super.readSlice(length), index);
    }

    @Override
    public ByteBuf retainedSlice() {
        return slice().retain();
    }

    @Override
    public ByteBuf retainedSlice(int index, int length) {
        return slice(index, length).retain();
    }

    @Override
    public ByteBuf retainedDuplicate() {
        return duplicate().retain();
    }

    @Override
    public ByteBuf readRetainedSlice(int length) {
        return readSlice(length).retain();
    }
}
