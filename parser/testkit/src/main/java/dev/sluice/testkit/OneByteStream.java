package dev.sluice.testkit;

import java.io.ByteArrayInputStream;

/** Gives one byte at a time, as the slowest client does. */
public class OneByteStream extends ByteArrayInputStream {
    public OneByteStream(byte[] bytes) {
        super(bytes);
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        return super.read(target, offset, Math.min(1, length));
    }
}
