package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;

/** A decoder that is fed Netty's buffers chunk by chunk. Compiled once against 4.2, and linked a second time with 4.1. */
public final class ByteBufPeer implements Peer {
    private final ByteBufChunks chunks;
    private final Decoder decoder;

    /** Makes a decoder for one run. */
    private interface Decoder {
        Decoding start(Tally tally) throws IOException;
    }

    private ByteBufPeer(Body body, int chunkSize, Memory memory, Decoder decoder) {
        this.chunks = new ByteBufChunks(body.cut(chunkSize), memory);
        this.decoder = decoder;
    }

    public static Peer sluice(Body body, int chunkSize, Memory memory) {
        MultipartOptions options = SluiceOptions.of(body);
        return new ByteBufPeer(
                body,
                chunkSize,
                memory,
                tally -> new SluiceDecoding(Boundary.from(body.contentType()), options, tally));
    }

    /** File content stays in memory until the end of the body. */
    public static Peer nettyKept(Body body, int chunkSize, Memory memory) {
        return new ByteBufPeer(body, chunkSize, memory, tally -> new NettyDecoding(body.contentType(), tally, true));
    }

    /** File content is counted and released at once, as Vert.x does it. */
    public static Peer nettyDropped(Body body, int chunkSize, Memory memory) {
        return new ByteBufPeer(body, chunkSize, memory, tally -> new NettyDecoding(body.contentType(), tally, false));
    }

    /** What is made for one operation only may be written to by its reader. */
    public static Peer contrib(Body body, int chunkSize, Memory memory) {
        boolean owned = memory == Memory.POOLED_EACH;
        return new ByteBufPeer(body, chunkSize, memory, tally -> new ContribDecoding(body.boundary(), tally, owned));
    }

    /** The control row: makes and releases the chunks and looks at nothing. It finds no parts. */
    public static Peer chunksOnly(Body body, int chunkSize, Memory memory) {
        return new ByteBufPeer(body, chunkSize, memory, Dropping::new);
    }

    @Override
    public void leakLevel(String level) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.valueOf(level));
    }

    @Override
    public void run(Tally tally) throws IOException {
        try (Decoding decoding = decoder.start(tally)) {
            int count = chunks.count();
            for (int i = 0; i < count; i++) {
                decoding.offer(chunks.next(i));
            }
            decoding.finish();
        }
    }

    @Override
    public void close() {
        chunks.close();
    }

    /** Counts the bytes of a body and decodes nothing. */
    public record Dropping(Tally tally) implements Decoding {
        @Override
        public void offer(ByteBuf chunk) {
            tally.count(chunk.readableBytes());
            chunk.release();
        }

        @Override
        public void finish() {}

        @Override
        public void close() {}
    }
}
