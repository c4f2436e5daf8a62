package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.util.ResourceLeakDetector;
import org.jspecify.annotations.Nullable;

/** Sluice's decoder, fed chunk by chunk. */
public final class SluicePushPeer implements Peer {

    private final Body body;
    private final MultipartOptions options;
    private final ByteBufChunks chunks;
    private @Nullable String name;
    private @Nullable String filename;

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
        try (MultipartDecoder decoder = MultipartDecoder.create(boundary, options)) {
            int count = chunks.count();
            for (int i = 0; i < count; i++) {
                decoder.feed(chunks.next(i));
                drain(decoder, tally);
            }
            decoder.finish();
            drain(decoder, tally);
        }
    }

    private void drain(MultipartDecoder decoder, Tally tally) throws MultipartException {
        for (; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> {
                    name = decoder.name();
                    filename = decoder.filename();
                }
                case DATA -> ByteBufChunks.tell(tally, decoder.data());
                case PART_END -> tally.endPart(name, filename);
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    @Override
    public void close() {
        chunks.close();
    }
}
