package dev.sluice.buffer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import org.junit.jupiter.api.Test;

class ChannelOutputTest {
    /** A channel that accepts at most two bytes at a time, and a limited number in total. */
    private static final class SlowChannel implements WritableByteChannel {
        private final StringBuilder written = new StringBuilder();
        private int room;

        SlowChannel(int room) {
            this.room = room;
        }

        @Override
        public int write(ByteBuffer bytes) {
            byte[] some = new byte[Math.min(Math.min(2, room), bytes.remaining())];
            bytes.get(some);
            written.append(new String(some, US_ASCII));
            room -= some.length;
            return some.length;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    private static ByteBuf twoBuffers() {
        return Unpooled.wrappedBuffer("xabc".getBytes(US_ASCII), "defg".getBytes(US_ASCII))
                .skipBytes(1);
    }

    @Test
    void writeFully_slowChannel_writesEverythingOnce() throws IOException {
        SlowChannel slow = new SlowChannel(100);
        ByteBuf data = twoBuffers();
        ChannelOutput.writeFully(slow, data);
        assertEquals("abcdefg", slow.written.toString());
        assertEquals(7, data.readableBytes());
        assertEquals(7, ChannelOutput.writeFully(slow, data.nioBuffer()));
    }

    @Test
    void writeFully_stuckChannel_fails() {
        SlowChannel stuck = new SlowChannel(5);
        assertThrows(IOException.class, () -> ChannelOutput.writeFully(stuck, twoBuffers()));
        assertEquals("abcde", stuck.written.toString());
    }

    @Test
    void requireBlocking_rejectsOnlyChannelsInNonBlockingMode() throws IOException {
        ChannelOutput.requireBlocking(new SlowChannel(0));
        try (SocketChannel channel = SocketChannel.open()) {
            ChannelOutput.requireBlocking(channel);
            channel.configureBlocking(false);
            assertThrows(IllegalBlockingModeException.class, () -> ChannelOutput.requireBlocking(channel));
        }
    }
}
