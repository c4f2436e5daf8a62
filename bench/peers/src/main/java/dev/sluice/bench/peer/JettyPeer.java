package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Slice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.MultiPart;
import org.eclipse.jetty.io.Content;
import org.jspecify.annotations.Nullable;

/** Jetty's push parser with its own part listener. */
final class JettyPeer implements Peer {
    private final Body body;
    private final List<ByteBuffer> chunks;

    JettyPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.chunks = buffers(body, chunkSize, memory);
    }

    /** The chunks; equal slices share one buffer. */
    static List<ByteBuffer> buffers(Body body, int chunkSize, Memory memory) {
        List<ByteBuffer> buffers = new ArrayList<>();
        Map<Slice, ByteBuffer> made = new HashMap<>();
        for (Slice slice : body.cut(chunkSize)) {
            buffers.add(made.computeIfAbsent(
                    slice,
                    bytes -> memory == Memory.DIRECT
                            ? ByteBuffer.allocateDirect(bytes.length()).put(bytes.bytes())
                            : bytes.bytes()));
        }
        return buffers;
    }

    @Override
    public void run(Tally tally) throws IOException {
        Listener listener = new Listener(tally);
        MultiPart.Parser parser = new MultiPart.Parser(body.boundary(), listener);
        parser.setMaxParts(-1);
        int last = chunks.size() - 1;
        for (int i = 0; i <= last; i++) {
            parser.parse(Content.Chunk.from(chunks.get(i).clear(), i == last));
        }
        if (listener.failure != null) {
            throw new IOException(listener.failure);
        }
    }

    private static final class Listener extends MultiPart.AbstractPartsListener {
        private final Tally tally;
        private @Nullable Throwable failure;

        Listener(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void onPartContent(Content.Chunk chunk) {
            if (tally.checks()) {
                tally.data(chunk.getByteBuffer().slice());
            } else {
                tally.count(chunk.remaining());
            }
        }

        @Override
        public void onPart(@Nullable String name, @Nullable String fileName, HttpFields headers) {
            tally.endPart(name, fileName);
        }

        @Override
        public void onFailure(Throwable cause) {
            failure = cause;
        }
    }
}
