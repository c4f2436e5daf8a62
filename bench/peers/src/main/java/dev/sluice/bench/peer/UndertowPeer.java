package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import io.undertow.connector.ByteBufferPool;
import io.undertow.server.DefaultByteBufferPool;
import io.undertow.util.HeaderMap;
import io.undertow.util.Headers;
import io.undertow.util.MultipartParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

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

    private static final class Handler implements MultipartParser.PartHandler {
        private final Tally tally;
        private @Nullable String name;
        private @Nullable String filename;

        Handler(Tally tally) {
            this.tally = tally;
        }

        /** The parser leaves the names in the header; its form parser reads them so. */
        @Override
        public void beginPart(HeaderMap headers) {
            if (tally.records()) {
                String disposition = headers.getFirst(Headers.CONTENT_DISPOSITION);
                boolean form = disposition != null && disposition.startsWith("form-data");
                name = form ? Headers.extractQuotedValueFromHeader(disposition, "name") : null;
                filename = form ? Headers.extractQuotedValueFromHeaderWithEncoding(disposition, "filename") : null;
            }
        }

        @Override
        public void data(ByteBuffer content) {
            tally.data(content);
        }

        @Override
        public void endPart() {
            tally.endPart(name, filename);
        }
    }
}
