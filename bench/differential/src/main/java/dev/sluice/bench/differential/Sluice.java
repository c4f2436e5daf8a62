package dev.sluice.bench.differential;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Optional;

/** Sluice's decoder with one of its presets. */
enum Sluice {
    STANDARD(Preset.STANDARD),
    STRICT(Preset.STRICT),
    COMPATIBLE(Preset.COMPATIBLE);

    private final Preset preset;
    private final MultipartOptions options;

    Sluice(Preset preset) {
        this.preset = preset;
        this.options = MultipartOptions.builder().preset(preset).build();
    }

    /** Returns the boundary of a request, if it has a valid one. */
    Optional<Boundary> boundary(String contentType) {
        try {
            return Optional.of(Boundary.anyMultipart(contentType, preset));
        } catch (MultipartException e) {
            return Optional.empty();
        }
    }

    /** Reads a body in its chunks. A refusal contains the reason, the part and the offset. */
    Reading read(Boundary boundary, Body body) {
        Tally tally = Tally.recording();
        try (SluiceDecoding decoding = new SluiceDecoding(boundary, options, tally)) {
            for (Slice chunk : body.cut(0)) {
                decoding.offer(Unpooled.wrappedBuffer(chunk.array(), chunk.offset(), chunk.length()));
            }
            decoding.finish();
            return new Reading(tally.parts(), null);
        } catch (MultipartException e) {
            return new Reading(tally.parts(), e.reason() + " of part " + e.partIndex() + " at " + e.offset());
        }
    }

    /** Reads a sample, which need not have a boundary. */
    Reading read(Sample sample) {
        try {
            Boundary boundary = Boundary.anyMultipart(sample.contentType(), preset);
            return read(boundary, sample.whole(boundary.value()));
        } catch (MultipartException e) {
            return new Reading(List.of(), e.reason().toString());
        }
    }
}
