package dev.sluice.transfer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.WritableByteChannel;

/** Writes to channels of the application, which have to be in blocking mode. */
public final class ChannelOutput {
    private ChannelOutput() {}

    /** Refuses a channel that would have to be asked again and again. */
    public static void requireBlocking(WritableByteChannel channel) {
        if (channel instanceof SelectableChannel selectable && !selectable.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    /** Writes all remaining bytes, in as many steps as the channel needs. {@return how many} */
    public static int writeFully(WritableByteChannel channel, ByteBuffer bytes) throws IOException {
        int count = bytes.remaining();
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                throw new IOException("the channel takes no bytes");
            }
        }
        return count;
    }
}
