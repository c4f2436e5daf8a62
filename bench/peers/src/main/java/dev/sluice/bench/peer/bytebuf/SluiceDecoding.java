package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** One body through Sluice's decoder. */
public final class SluiceDecoding implements Decoding {
    private final Tally tally;
    private final MultipartDecoder decoder;
    private @Nullable String name;
    private @Nullable String filename;

    public SluiceDecoding(Boundary boundary, MultipartOptions options, Tally tally) {
        this.tally = tally;
        this.decoder = MultipartDecoder.create(boundary, options);
    }

    @Override
    public void offer(ByteBuf chunk) throws MultipartException {
        decoder.feed(chunk);
        drain();
    }

    @Override
    public void finish() throws MultipartException {
        decoder.finish();
        drain();
    }

    private void drain() throws MultipartException {
        for (; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> {
                    name = decoder.name();
                    filename = decoder.filename();
                }
                case DATA -> ByteBufChunks.tell(tally, decoder.data());
                case PART_END -> tally.endPart(name, filename);
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    @Override
    public void close() {
        decoder.close();
    }
}
