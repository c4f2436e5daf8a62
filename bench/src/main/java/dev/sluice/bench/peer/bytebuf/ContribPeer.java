package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.contrib.multipart.ContentDisposition;
import io.netty.contrib.multipart.PostBodyDecoder;
import io.netty.util.ResourceLeakDetector;
import org.jspecify.annotations.Nullable;

/**
 * netty-contrib's core decoder. It takes over the chunks it is given and writes to them: what is left of one has the next
 * appended. So only chunks that were made for one operation go to it as they are; shared ones are copied first.
 */
public final class ContribPeer implements Peer {

    private final Body body;
    private final ByteBufChunks chunks;
    private @Nullable String name;
    private @Nullable String filename;

    public ContribPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.chunks = new ByteBufChunks(body.cut(chunkSize), memory);
    }

    @Override
    public void leakLevel(String level) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.valueOf(level));
    }

    @Override
    public void run(Tally tally) {
        try (PostBodyDecoder decoder =
                PostBodyDecoder.builder().maxFields(Integer.MAX_VALUE).forMultipartBoundary(body.boundary())) {
            int count = chunks.count();
            for (int i = 0; i < count; i++) {
                decoder.add(owned(chunks.next(i)));
                drain(decoder, tally);
            }
            decoder.endInput();
            drain(decoder, tally);
        }
    }

    private ByteBuf owned(ByteBuf chunk) {
        if (chunks.ownedByReader()) {
            return chunk;
        }
        try {
            return chunk.copy();
        } finally {
            chunk.release();
        }
    }

    private void drain(PostBodyDecoder decoder, Tally tally) {
        for (PostBodyDecoder.Event event; (event = decoder.next()) != null; ) {
            switch (event) {
                case BEGIN_FIELD -> {
                    name = null;
                    filename = null;
                }
                case HEADER -> {
                    if (decoder.parsedHeaderValue() instanceof ContentDisposition disposition) {
                        name = disposition.name();
                        filename = disposition.fileName();
                    }
                }
                case CONTENT -> {
                    ByteBuf content = decoder.decodedContent();
                    ByteBufChunks.tell(tally, content);
                    content.release();
                }
                case FIELD_COMPLETE -> tally.endPart(name, filename);
                default -> {
                    // nothing to do for the end of the headers
                }
            }
        }
    }

    @Override
    public void close() {
        chunks.close();
    }
}
