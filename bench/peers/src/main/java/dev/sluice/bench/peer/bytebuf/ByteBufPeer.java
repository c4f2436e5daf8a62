package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;

/**
 * A decoder that receives Netty buffers. The class is compiled with Netty 4.2. {@code NettyIsland} also loads it with
 * Netty 4.1.
 */
public final class ByteBufPeer implements Peer {
    private final ByteBufChunks chunks;
    private final Decoder decoder;

    private interface Decoder {
        Decoding start(Tally tally) throws IOException;
    }

    private ByteBufPeer(ByteBufChunks chunks, Decoder decoder) {
        this.chunks = chunks;
        this.decoder = decoder;
    }

    /** @param decoder the id of the peer */
    public static Peer.Opener of(String decoder) {
        return (body, chunkSize, memory) -> open(decoder, body, chunkSize, memory);
    }

    /** @param chunkSize as in {@link Body#cut} */
    public static Peer open(String decoder, Body body, int chunkSize, Memory memory) {
        return new ByteBufPeer(new ByteBufChunks(body.cut(chunkSize), memory), decoder(decoder, body, memory));
    }

    private static Decoder decoder(String name, Body body, Memory memory) {
        String type = body.contentType();
        return switch (name) {
            case "sluice-push" -> {
                MultipartOptions options = SluiceDecoding.options(body);
                yield tally -> new SluiceDecoding(Boundary.anyMultipart(type), options, tally);
            }
            // File content stays in memory until the end of the body.
            case "netty42-kept", "netty41-kept" -> tally -> new NettyDecoding(type, tally, true);
            // File content is counted and released immediately, as in Vert.x.
            case "netty42-dropped", "netty41-dropped" -> tally -> new NettyDecoding(type, tally, false);
            // The decoder may write to chunks that are created for one operation.
            case "netty-contrib" -> tally -> new ContribDecoding(body.boundary(), tally, memory == Memory.POOLED_EACH);
            // The control only creates and releases the chunks.
            case "chunks-only" -> tally -> chunk -> drop(tally, chunk);
            default -> throw new IllegalArgumentException(name);
        };
    }

    @Override
    public void leakLevel(String level) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.valueOf(level));
    }

    @Override
    public void run(Tally tally) throws IOException {
        try (Decoding decoding = decoder.start(tally)) {
            int count = chunks.count();
            for (int i = 0; i < count; i++) {
                decoding.offer(chunks.next(i));
            }
            decoding.finish();
        }
    }

    @Override
    public void close() {
        chunks.close();
    }

    /** Counts the bytes of a chunk and decodes nothing. */
    public static void drop(Tally tally, ByteBuf chunk) {
        tally.count(chunk.readableBytes());
        chunk.release();
    }
}
