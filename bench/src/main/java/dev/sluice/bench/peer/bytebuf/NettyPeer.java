package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;

/**
 * Netty's decoder. Compiled once against 4.2 and linked a second time with 4.1. File content is either kept in memory or, as
 * Vert.x does it, dropped by an upload that only counts.
 */
public final class NettyPeer implements Peer {

    private final boolean keep;
    private final Body body;
    private final ByteBufChunks chunks;

    private NettyPeer(Body body, int chunkSize, Memory memory, boolean keep) {
        this.body = body;
        this.chunks = new ByteBufChunks(body.cut(chunkSize), memory);
        this.keep = keep;
    }

    /** File content stays in memory until the end of the body. */
    public static Peer keeping(Body body, int chunkSize, Memory memory) {
        return new NettyPeer(body, chunkSize, memory, true);
    }

    /** File content is counted and released at once. */
    public static Peer dropping(Body body, int chunkSize, Memory memory) {
        return new NettyPeer(body, chunkSize, memory, false);
    }

    @Override
    public void leakLevel(String level) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.valueOf(level));
    }

    @Override
    public void run(Tally tally) throws IOException {
        try (NettyDecoding decoding = new NettyDecoding(body.contentType(), tally, keep)) {
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
}
