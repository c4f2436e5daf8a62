package dev.sluice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ReadableByteChannel;

/** Where a blocking reader gets the body from. */
interface MultipartReaderSource {
    /** Reads some bytes behind the writer index. {@return false at the end} */
    boolean read(ByteBuf chunk) throws IOException;

    /** {@return a chunk of the kind of memory that is read into best} */
    ByteBuf allocate(ByteBufAllocator allocator, int size);

    /** Reads arrays. */
    record OfStream(InputStream in) implements MultipartReaderSource {
        @Override
        public boolean read(ByteBuf chunk) throws IOException {
            return chunk.writeBytes(in, chunk.writableBytes()) >= 0;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator, int size) {
            return allocator.heapBuffer(size, size);
        }
    }

    /** Reads into memory outside the heap, as channels do best. */
    record OfChannel(ReadableByteChannel in) implements MultipartReaderSource {
        @Override
        public boolean read(ByteBuf chunk) throws IOException {
            ByteBuffer free = chunk.internalNioBuffer(chunk.writerIndex(), chunk.writableBytes());
            int count = in.read(free);
            if (count == 0) {
                throw new IllegalBlockingModeException(); // it would have to be asked again and again
            }
            chunk.writerIndex(chunk.writerIndex() + Math.max(count, 0));
            return count >= 0;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator, int size) {
            return allocator.directBuffer(size, size);
        }
    }
}
