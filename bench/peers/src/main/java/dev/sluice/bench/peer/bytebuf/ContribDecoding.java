package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.contrib.multipart.ContentDisposition;
import io.netty.contrib.multipart.PostBodyDecoder;
import org.jspecify.annotations.Nullable;

/**
 * One body through netty-contrib's core decoder. It takes over the chunks it is given and writes to them: what is left of one
 * has the next appended. So shared chunks are copied first.
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
        decoder.close();
    }
}
