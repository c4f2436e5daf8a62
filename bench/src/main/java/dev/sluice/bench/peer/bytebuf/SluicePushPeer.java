package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.util.ResourceLeakDetector;

/** Sluice's decoder, fed chunk by chunk. */
public final class SluicePushPeer implements Peer {

    private final Body body;
    private final MultipartOptions options;
    private final ByteBufChunks chunks;

    public SluicePushPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.options = SluiceOptions.of(body);
        this.chunks = new ByteBufChunks(body.cut(chunkSize), memory);
    }

    @Override
    public void leakLevel(String level) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.valueOf(level));
    }

    @Override
    public void run(Tally tally) throws MultipartException {
        Boundary boundary = Boundary.from(body.contentType());
        try (SluiceDecoding decoding = new SluiceDecoding(boundary, options, tally)) {
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
