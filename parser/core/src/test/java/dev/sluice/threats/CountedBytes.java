package dev.sluice.threats;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

/** A buffer that counts reads and copies of its bytes. */
final class CountedBytes extends UnpooledHeapByteBuf {
    private long looks;

    CountedBytes(byte[] bytes) {
        super(UnpooledByteBufAllocator.DEFAULT, bytes, bytes.length);
    }

    long looks() {
        return looks;
    }

    /** Prevents uncounted access. */
    @Override
    public boolean hasArray() {
        return false;
    }

    @Override
    public byte[] array() {
        throw new UnsupportedOperationException("bytes are counted");
    }

    @Override
    protected byte _getByte(int index) {
        looks++;
        return super._getByte(index);
    }

    @Override
    protected long _getLong(int index) {
        looks += Long.BYTES;
        return super._getLong(index);
    }

    @Override
    protected long _getLongLE(int index) {
        looks += Long.BYTES;
        return super._getLongLE(index);
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int at, int length) {
        looks += length;
        return super.getBytes(index, target, at, length);
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int at, int length) {
        looks += length;
        return super.getBytes(index, target, at, length);
    }
}
