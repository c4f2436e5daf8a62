package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;

/** The control row: makes and releases the chunks and looks at nothing. It finds no parts. */
public final class ChunksOnly implements Peer {

    private final ByteBufChunks chunks;

    public ChunksOnly(Body body, int chunkSize, Memory memory) {
        this.chunks = new ByteBufChunks(body.cut(chunkSize), memory);
    }

    @Override
    public void leakLevel(String level) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.valueOf(level));
    }

    @Override
    public void run(Tally tally) {
        int count = chunks.count();
        for (int i = 0; i < count; i++) {
            ByteBuf chunk = chunks.next(i);
            tally.count(chunk.readableBytes());
            chunk.release();
        }
    }

    @Override
    public void close() {
        chunks.close();
    }
}
