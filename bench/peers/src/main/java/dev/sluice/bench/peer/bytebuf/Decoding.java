package dev.sluice.bench.peer.bytebuf;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** One body on its way through a decoder that is fed chunk by chunk, told to a tally. One thread. */
public interface Decoding extends AutoCloseable {
    /** @param chunk transferred */
    void offer(ByteBuf chunk) throws IOException;

    /** Ends the body. */
    default void finish() throws IOException {}

    /** Gives back what the decoder holds. Idempotent. */
    @Override
    default void close() {}
}
