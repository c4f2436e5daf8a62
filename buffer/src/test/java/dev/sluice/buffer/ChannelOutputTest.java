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
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChannelOutputTest {
    /** A channel that accepts at most two bytes at a time, and a limited number in total. */
    private static class SlowChannel implements WritableByteChannel {
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

    /** The JDK copies the bytes of each write from the heap to direct memory. */
    @Test
    void writeFully_largeHeapBuffer_isWrittenInPieces() throws IOException {
        for (ByteBuf data : new ByteBuf[] {Unpooled.buffer(150_000), Unpooled.directBuffer(150_000)}) {
            data.writeZero(150_000);
            List<Integer> written = new ArrayList<>();
            ByteBuffer view = data.nioBuffer();
            ChannelOutput.writeFully(
                    new SlowChannel(0) {
                        @Override
                        public int write(ByteBuffer bytes) {
                            written.add(bytes.remaining());
                            bytes.position(bytes.limit());
                            return written.get(written.size() - 1);
                        }
                    },
                    view);
            assertEquals(data.isDirect() ? List.of(150_000) : List.of(65_536, 65_536, 18_928), written);
            assertEquals(150_000, view.position());
            data.release();
        }
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
