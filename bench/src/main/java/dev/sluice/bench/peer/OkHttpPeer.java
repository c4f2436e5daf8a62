package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import java.io.IOException;
import okhttp3.MultipartReader;
import okio.Okio;
import okio.Sink;

/** OkHttp's pull reader. */
final class OkHttpPeer implements Peer {

    private static final Sink NOWHERE = Okio.blackhole();

    private final Body body;
    private final Body.ChunkedStream stream;

    OkHttpPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.stream = body.stream(chunkSize);
    }

    @Override
    public void run(Tally tally) throws IOException {
        stream.rewind();
        try (MultipartReader reader = new MultipartReader(Okio.buffer(Okio.source(stream)), body.boundary())) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                if (tally.checks()) {
                    tally.drain(part.body().inputStream());
                } else {
                    // Segments are passed on as they are.
                    tally.count(part.body().readAll(NOWHERE));
                }
                tally.endPart();
            }
        }
    }

    @Override
    public void close() {}
}
