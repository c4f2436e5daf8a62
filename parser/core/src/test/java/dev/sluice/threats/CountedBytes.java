package dev.sluice.threats;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;

/** A buffer that counts reads and copies of its bytes. */
final class CountedBytes extends UnpooledHeapByteBuf {
    private long reads;

    CountedBytes(byte[] bytes) {
        super(UnpooledByteBufAllocator.DEFAULT, bytes, bytes.length);
    }

    long reads() {
        return reads;
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
        reads++;
        return super._getByte(index);
    }

    @Override
    protected long _getLong(int index) {
        reads += Long.BYTES;
        return super._getLong(index);
    }

    @Override
    protected long _getLongLE(int index) {
        reads += Long.BYTES;
        return super._getLongLE(index);
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int at, int length) {
        reads += length;
        return super.getBytes(index, target, at, length);
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int at, int length) {
        reads += length;
        return super.getBytes(index, target, at, length);
    }
}
