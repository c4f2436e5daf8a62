package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.contrib.multipart.ContentDisposition;
import io.netty.contrib.multipart.PostBodyDecoder;
import org.jspecify.annotations.Nullable;

/**
 * The core decoder of netty-contrib. It takes ownership of chunks and appends the next chunk to the rest of the previous one, so shared
 * chunks are copied first.
 */
final class ContribDecoding implements Decoding {
    private final PostBodyDecoder decoder;
    private final Tally tally;
    private final boolean owned;
    private @Nullable String name;
    private @Nullable String filename;

    ContribDecoding(String boundary, Tally tally, boolean owned) {
        this.decoder = PostBodyDecoder.builder().maxFields(Integer.MAX_VALUE).forMultipartBoundary(boundary);
        this.tally = tally;
        this.owned = owned;
    }

    @Override
    public void offer(ByteBuf chunk) {
        decoder.add(owned ? chunk : copied(chunk));
        drain();
    }

    private static ByteBuf copied(ByteBuf chunk) {
        try {
            return chunk.copy();
        } finally {
            chunk.release();
        }
    }

    @Override
    public void finish() {
        decoder.endInput();
        drain();
    }

    private void drain() {
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
                    ByteBufChunks.add(tally, content);
                    content.release();
                }
                case FIELD_COMPLETE -> tally.endPart(name, filename);
                default -> {
                    // The end of the headers is not counted.
                }
            }
        }
    }

    @Override
    public void close() {
        decoder.close();
    }
}
