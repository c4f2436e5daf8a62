package dev.sluice.bench.peer.bytebuf;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** The decoding of one body, chunk by chunk. Parts are added to a tally. Not thread-safe. */
public interface Decoding extends AutoCloseable {
    /** @param chunk <em>transferred</em> */
    void offer(ByteBuf chunk) throws IOException;

    default void finish() throws IOException {}

    /** Releases the resources of the decoder. Idempotent. */
    @Override
    default void close() {}
}
