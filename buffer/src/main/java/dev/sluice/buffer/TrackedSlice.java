package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.SwappedByteBuf;
import io.netty.util.ResourceLeakHint;
import java.nio.ByteOrder;

/**
 * A view of a buffer whose use is recorded, made so that only what changes ownership is: retaining, releasing and
 * touching go to the recording buffer, which keeps netty's tracking exact; reading goes straight to the memory. A
 * retain leaves this view as the hint, so that a leak report names the part.
 *
 * <p>Netty 4.1 and 4.2 have one public class in common that passes every call on, and it swaps the byte order: what it
 * is given here is swapped already.
 */
@SuppressWarnings("deprecation") // as is all of netty about byte order
final class TrackedSlice extends SwappedByteBuf implements ResourceLeakHint {
    private final ByteBuf owner;
    private final int partIndex;
    private final long offset;

    /** @param offset of the first byte, from the start of the multipart body */
    TrackedSlice(ByteBuf view, ByteBuf owner, int partIndex, long offset) {
        super(swapped(view));
        this.owner = owner;
        this.partIndex = partIndex;
        this.offset = offset;
    }

    private static ByteBuf swapped(ByteBuf view) {
        return view.order(view.order() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    }

    private ByteBuf alike(ByteBuf view) {
        return new TrackedSlice(view, owner, partIndex, offset);
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
        return alike(super.slice());
    }

    @Override
    public ByteBuf slice(int index, int length) {
        return alike(super.slice(index, length));
    }

    @Override
    public ByteBuf duplicate() {
        return alike(super.duplicate());
    }

    @Override
    public ByteBuf readSlice(int length) {
        return alike(super.readSlice(length));
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
