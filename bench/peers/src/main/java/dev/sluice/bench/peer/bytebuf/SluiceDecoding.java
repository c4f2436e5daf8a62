package dev.sluice.bench.peer.bytebuf;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Sluice's push decoder. */
public class SluiceDecoding implements Decoding {
    private static final int JUNK_LIMIT = 2 << 20;

    private final Tally tally;
    private final MultipartDecoder decoder;
    private @Nullable String name;
    private @Nullable String filename;

    /** Returns the default options, or lenient options for a lenient body. */
    public static MultipartOptions options(Body body) {
        if (!body.lenient()) {
            return MultipartOptions.defaults();
        }
        return MultipartOptions.builder()
                .preset(Preset.COMPATIBLE)
                .maxPreambleBytes(JUNK_LIMIT)
                .maxEpilogueBytes(JUNK_LIMIT)
                .build();
    }

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

    /** Adds all available events to the tally. */
    protected void drain() throws MultipartException {
        for (; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> {
                    name = decoder.name();
                    filename = decoder.filename();
                }
                case DATA -> data(decoder.data());
                case PART_END -> endPart(name, filename);
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    /** @param content <em>borrowed</em> */
    protected void data(ByteBuf content) {
        ByteBufChunks.add(tally, content);
    }

    protected void endPart(@Nullable String itsName, @Nullable String itsFilename) {
        tally.endPart(itsName, itsFilename);
    }

    @Override
    public void close() {
        decoder.close();
    }
}
