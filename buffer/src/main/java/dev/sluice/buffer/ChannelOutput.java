package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.WritableByteChannel;

/** Output to channels, which must be in blocking mode. */
public final class ChannelOutput {
    /** The maximum size of a write from the heap. The JDK copies these bytes to direct memory, which it keeps for the thread. */
    private static final int MAX_HEAP_WRITE = 64 << 10;

    private ChannelOutput() {}

    /** Rejects a channel that is not in blocking mode, because its {@code write} may accept no bytes. */
    public static void requireBlocking(WritableByteChannel channel) {
        if (channel instanceof SelectableChannel selectable && !selectable.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    /**
     * Writes all remaining bytes.
     *
     * @return the number of bytes written
     */
    public static int writeFully(WritableByteChannel channel, ByteBuffer bytes) throws IOException {
        int count = bytes.remaining();
        int end = bytes.limit();
        while (bytes.position() < end) {
            int left = end - bytes.position();
            bytes.limit(bytes.position() + (bytes.isDirect() ? left : Math.min(left, MAX_HEAP_WRITE)));
            if (channel.write(bytes) == 0) {
                throw new IOException("the channel accepts no bytes");
            }
        }
        return count;
    }

    /** Writes all readable bytes of {@code data}, whose indices do not change. */
    public static void writeFully(WritableByteChannel channel, ByteBuf data) throws IOException {
        for (ByteBuffer memory : data.nioBuffers()) {
            writeFully(channel, memory);
        }
    }
}
