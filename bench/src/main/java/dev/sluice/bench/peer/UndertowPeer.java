package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import io.undertow.connector.ByteBufferPool;
import io.undertow.server.DefaultByteBufferPool;
import io.undertow.util.HeaderMap;
import io.undertow.util.MultipartParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Undertow's push parser. */
final class UndertowPeer implements Peer {

    private static final ByteBufferPool POOL = new DefaultByteBufferPool(false, 16 * 1024);

    private final byte[] boundary;
    private final List<ByteBuffer> chunks;

    UndertowPeer(Body body, int chunkSize, Memory memory) {
        this.boundary = body.boundary().getBytes(StandardCharsets.US_ASCII);
        this.chunks = JettyPeer.buffers(body, chunkSize, memory);
    }

    @Override
    public void run(Tally tally) throws IOException {
        MultipartParser.ParseState parser =
                MultipartParser.beginParse(POOL, new Handler(tally), boundary, StandardCharsets.UTF_8.name());
        for (ByteBuffer chunk : chunks) {
            parser.parse(chunk.clear());
        }
        if (!parser.isComplete()) {
            throw new IOException("not complete");
        }
    }

    @Override
    public void close() {}

    private record Handler(Tally tally) implements MultipartParser.PartHandler {

        @Override
        public void beginPart(HeaderMap headers) {
            // name and file name are left in the header by this parser
        }

        @Override
        public void data(ByteBuffer content) {
            tally.data(content);
        }

        @Override
        public void endPart() {
            tally.endPart();
        }
    }
}
