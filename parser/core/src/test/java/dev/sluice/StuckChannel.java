package dev.sluice;

import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;

/**
 * A channel that neither delivers nor accepts bytes, as if it were not in blocking mode. It fails after 100 calls, because the caller must
 * not retry forever.
 */
public final class StuckChannel implements ByteChannel {
    private int calls;

    @Override
    public int read(ByteBuffer target) {
        return countCall();
    }

    @Override
    public int write(ByteBuffer source) {
        return countCall();
    }

    private int countCall() {
        if (++calls > 100) {
            throw new AssertionError("the caller retries forever");
        }
        return 0;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {}
}
