package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import java.io.IOException;

/** Sluice's blocking reader over a stream, its part streams drained into one array. */
public final class SluicePullPeer implements Peer {

    private final Body body;
    private final MultipartOptions options;
    private final Body.ChunkedStream stream;

    public SluicePullPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.options = SluiceOptions.of(body);
        this.stream = body.stream(chunkSize);
    }

    @Override
    public void run(Tally tally) throws IOException {
        stream.rewind();
        try (MultipartReader reader = MultipartReader.create(stream, Boundary.from(body.contentType()), options)) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                tally.drain(part.inputStream());
                tally.endPart(part.name(), part.filename());
            }
        }
    }

    @Override
    public void close() {}
}
