package dev.sluice.bench.differential;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Slice;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.undertow.connector.ByteBufferPool;
import io.undertow.server.DefaultByteBufferPool;
import io.undertow.util.HeaderMap;
import io.undertow.util.Headers;
import io.undertow.util.MultipartParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Undertow's push parser, with the names read as its form parser reads them. */
final class UndertowParts implements Peer {

    private static final ByteBufferPool POOL = new DefaultByteBufferPool(false, 16 * 1024);

    private final Body body;

    UndertowParts(Body body) {
        this.body = body;
    }

    @Override
    public void run(Tally tally) throws IOException {
        MultipartParser.ParseState parser = MultipartParser.beginParse(
                POOL,
                new Handler(tally),
                body.boundary().getBytes(StandardCharsets.US_ASCII),
                StandardCharsets.UTF_8.name());
        for (Slice chunk : body.cut(0)) {
            parser.parse(ByteBuffer.wrap(chunk.array(), chunk.offset(), chunk.length()));
        }
        if (!parser.isComplete()) {
            throw new IOException("not complete");
        }
    }

    @Override
    public void close() {}

    private static final class Handler implements MultipartParser.PartHandler {

        private final Tally tally;
        private @Nullable String name;
        private @Nullable String filename;

        Handler(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void beginPart(HeaderMap headers) {
            name = null;
            filename = null;
            String disposition = headers.getFirst(Headers.CONTENT_DISPOSITION);
            if (disposition != null && disposition.startsWith("form-data")) {
                name = Headers.extractQuotedValueFromHeader(disposition, "name");
                filename = Headers.extractQuotedValueFromHeaderWithEncoding(disposition, "filename");
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
