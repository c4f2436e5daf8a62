package dev.sluice.bench.peer;

import io.undertow.connector.ByteBufferPool;
import io.undertow.server.DefaultByteBufferPool;
import io.undertow.util.HeaderMap;
import io.undertow.util.Headers;
import io.undertow.util.MultipartParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.MultiPart;
import org.eclipse.jetty.io.Content;
import org.jspecify.annotations.Nullable;

/** Parsers that receive NIO buffers. */
final class ByteBufferPeer {
    private static final ByteBufferPool UNDERTOW_POOL = new DefaultByteBufferPool(false, 16 * 1024);

    private ByteBufferPeer() {}

    /** Returns the chunks of the body. Equal slices share one buffer. */
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

    static Peer jetty(Body body, int chunkSize, Memory memory) {
        List<ByteBuffer> chunks = buffers(body, chunkSize, memory);
        return tally -> {
            JettyParts parts = new JettyParts(tally);
            MultiPart.Parser parser = new MultiPart.Parser(body.boundary(), parts);
            parser.setMaxParts(-1);
            int last = chunks.size() - 1;
            for (int i = 0; i <= last; i++) {
                parser.parse(Content.Chunk.from(chunks.get(i).clear(), i == last));
            }
            if (parts.failure != null) {
                throw new IOException(parts.failure);
            }
        };
    }

    private static final class JettyParts extends MultiPart.AbstractPartsListener {
        private final Tally tally;
        private @Nullable Throwable failure;

        JettyParts(Tally tally) {
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

    static Peer undertow(Body body, int chunkSize, Memory memory) {
        List<ByteBuffer> chunks = buffers(body, chunkSize, memory);
        byte[] boundary = body.boundary().getBytes(StandardCharsets.US_ASCII);
        String charset = StandardCharsets.UTF_8.name();
        return tally -> {
            MultipartParser.ParseState parser =
                    MultipartParser.beginParse(UNDERTOW_POOL, new UndertowParts(tally), boundary, charset);
            for (ByteBuffer chunk : chunks) {
                parser.parse(chunk.clear());
            }
            if (!parser.isComplete()) {
                throw new IOException("The body did not complete");
            }
        };
    }

    private static final class UndertowParts implements MultipartParser.PartHandler {
        private final Tally tally;
        private @Nullable String name;
        private @Nullable String filename;

        UndertowParts(Tally tally) {
            this.tally = tally;
        }

        /** Undertow's parser does not read names. They are read here as in Undertow's form parser. */
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
