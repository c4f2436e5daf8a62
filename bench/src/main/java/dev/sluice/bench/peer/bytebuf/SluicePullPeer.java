package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** Sluice's blocking reader over a stream. */
public final class SluicePullPeer implements Peer {

    private final Body body;
    private final MultipartOptions options;
    private final Body.ChunkedStream stream;
    private final boolean byStreams;

    private SluicePullPeer(Body body, int chunkSize, boolean byStreams) {
        this.body = body;
        this.byStreams = byStreams;
        this.options = SluiceOptions.of(body);
        this.stream = body.stream(chunkSize);
    }

    /** The parts' streams are drained into one array. */
    public static SluicePullPeer streams(Body body, int chunkSize, Memory memory) {
        return new SluicePullPeer(body, chunkSize, true);
    }

    /** The parts' content is taken chunk by chunk, as it lies in the reader's memory. */
    public static SluicePullPeer chunks(Body body, int chunkSize, Memory memory) {
        return new SluicePullPeer(body, chunkSize, false);
    }

    @Override
    public void run(Tally tally) throws IOException {
        stream.rewind();
        try (MultipartReader reader = MultipartReader.create(stream, Boundary.from(body.contentType()), options)) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                if (byStreams) {
                    tally.drain(part.inputStream());
                } else {
                    for (ByteBuf data; (data = part.nextData()) != null; ) {
                        ByteBufChunks.tell(tally, data);
                    }
                }
                tally.endPart(part.name(), part.filename());
            }
        }
    }

    @Override
    public void close() {}
}
