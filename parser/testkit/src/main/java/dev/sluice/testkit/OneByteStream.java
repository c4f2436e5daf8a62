package dev.sluice.testkit;

import java.io.ByteArrayInputStream;

/** A stream that returns one byte per read, as from a very slow client. */
public class OneByteStream extends ByteArrayInputStream {
    public OneByteStream(byte[] bytes) {
        super(bytes);
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        return super.read(target, offset, Math.min(1, length));
    }
}
