package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.DecoderProbe;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** A decoder with a transcript of all its results. */
final class Decoding implements AutoCloseable {
    private final MultipartDecoder decoder;
    private final Source source;
    private final Transcript transcript = new Transcript();
    private int fed;
    private boolean over;

    Decoding(Boundary boundary, MultipartOptions options, Source source) {
        this.decoder = MultipartDecoder.create(boundary, options);
        this.source = source;
    }

    /** {@return the transcript of a body that {@code feed} passes to the decoder} */
    static Transcript of(Boundary boundary, MultipartOptions options, Source source, Consumer<Decoding> feed) {
        try (Decoding decoding = new Decoding(boundary, options, source)) {
            feed.accept(decoding);
            return decoding.finish();
        }
    }

    /** Feeds the whole body as one chunk. */
    void feedWhole() {
        feedTo(source.size());
    }

    /** Feeds the bytes up to {@code end} as one chunk. */
    void feedTo(int end) {
        decoder.feed(source.slice(fed, end));
        fed = end;
        if (!over) {
            drain();
        }
    }

    /** Feeds the rest in chunks of random sizes, some of them empty. */
    void feedRest(SplittableRandom random) {
        int shift = random.nextInt(8);
        while (fed < source.size()) {
            feedTo(Math.min(source.size(), fed + (random.nextInt(256) >> shift)));
        }
    }

    /** Feeds the rest in chunks of one size. */
    void feedRest(int size) {
        while (fed < source.size()) {
            feedTo(Math.min(source.size(), fed + size));
        }
    }

    /** Ends the input, closes the decoder and returns the complete transcript. */
    Transcript finish() {
        decoder.finish();
        if (!over) {
            drain();
        }
        transcript.deviationsOf(decoder);
        decoder.close();
        return transcript;
    }

    long stateHash() {
        return DecoderProbe.stateHash(decoder);
    }

    private void drain() {
        try {
            for (; ; ) {
                switch (decoder.next()) {
                    case PART_BEGIN -> transcript.partOf(decoder);
                    case DATA -> transcript.data(decoder.data());
                    case PART_END -> transcript.partEnds(decoder.partSize());
                    case NEED_INPUT -> {
                        return;
                    }
                    case END -> {
                        transcript.ends(decoder.offset());
                        return;
                    }
                }
            }
        } catch (MultipartException e) {
            over = true;
            transcript.fails(e);
            if (decoder.offset() != e.offset()) {
                throw new AssertionError(
                        "failed at " + e.offset() + ", but the decoder's offset is " + decoder.offset(), e);
            }
        }
    }

    @Override
    public void close() {
        decoder.close();
    }
}
