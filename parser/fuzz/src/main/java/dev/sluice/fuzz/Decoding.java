package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.DecoderProbe;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Feeds a decoder and writes down all it says. */
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

    /** {@return all that is said of a body that is fed in a certain way} */
    static Transcript of(Boundary boundary, MultipartOptions options, Source source, Consumer<Decoding> feed) {
        try (Decoding decoding = new Decoding(boundary, options, source)) {
            feed.accept(decoding);
            return decoding.finish();
        }
    }

    /** Feeds all at once. */
    void feedWhole() {
        feedTo(source.size());
    }

    /** Feeds the bytes up to {@code end}, as one chunk. */
    void feedTo(int end) {
        decoder.feed(source.slice(fed, end));
        fed = end;
        if (!over) {
            drain();
        }
    }

    /** Feeds all that is left in chunks of random sizes, of which some are empty. */
    void feedRest(SplittableRandom random) {
        int shift = random.nextInt(8);
        while (fed < source.size()) {
            feedTo(Math.min(source.size(), fed + (random.nextInt(256) >> shift)));
        }
    }

    /** Feeds all that is left in chunks of one size. */
    void feedRest(int size) {
        while (fed < source.size()) {
            feedTo(Math.min(source.size(), fed + size));
        }
    }

    /** {@return all that was said, once the input has ended; the decoder is closed then} */
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
                throw new AssertionError("failed at " + e.offset() + ", but stands at " + decoder.offset(), e);
            }
        }
    }

    @Override
    public void close() {
        decoder.close();
    }
}
