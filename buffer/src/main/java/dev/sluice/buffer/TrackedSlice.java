package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.WrappedByteBuf;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * A view of a buffer whose use is recorded, made so that only what changes ownership is: retaining, releasing and
 * touching go to the recording buffer, which keeps netty's tracking exact; reading goes straight to the memory. A
 * retain leaves the hint, so that a leak report names the part.
 */
final class TrackedSlice extends WrappedByteBuf {
    private final ByteBuf owner;
    private final @Nullable TouchHint hint;

    TrackedSlice(ByteBuf view, ByteBuf owner, @Nullable TouchHint hint) {
        super(view);
        this.owner = owner;
        this.hint = hint;
    }

    private ByteBuf alike(ByteBuf view) {
        return new TrackedSlice(view, owner, hint);
    }

    private void name() {
        if (hint != null) {
            owner.touch(hint);
        }
    }

    @Override
    public ByteBuf retain() {
        name();
        owner.retain();
        return this;
    }

    @Override
    public ByteBuf retain(int increment) {
        name();
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
        return endianness == order() ? this : alike(super.order(endianness));
    }

    @Override
    public ByteBuf asReadOnly() {
        return alike(super.asReadOnly());
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
