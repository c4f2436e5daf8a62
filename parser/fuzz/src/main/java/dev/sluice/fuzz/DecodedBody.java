package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The decoder's result for a body that is fed as one chunk. */
final class DecodedBody {
    private final List<Part> parts = new ArrayList<>();
    private @Nullable MultipartException failure;

    /**
     * A part.
     *
     * @param charge the bytes that a form charges for a part that it keeps, in addition to its content: see {@link
     *     dev.sluice.form.FormOptions#maxInMemoryBytes()}
     */
    record Part(int index, String name, @Nullable String filename, long charge, byte[] content) {}

    /**
     * Decodes a body.
     *
     * @param body the whole body or its beginning; <em>transferred</em>
     * @param ends whether the body ends there
     */
    DecodedBody(Boundary boundary, MultipartOptions options, ByteBuf body, boolean ends) {
        try (MultipartDecoder decoder = MultipartDecoder.create(boundary, options)) {
            decoder.feed(body);
            decode(decoder, ends);
        } catch (MultipartException e) {
            failure = e;
        }
    }

    private void decode(MultipartDecoder decoder, boolean ends) throws MultipartException {
        Bytes content = new Bytes(64);
        long charge = 0;
        for (boolean finished = false; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> {
                    content = new Bytes(64);
                    charge = charge(decoder);
                }
                case DATA -> content.add(decoder.data());
                case PART_END ->
                    parts.add(new Part(
                            decoder.partIndex(),
                            Objects.requireNonNull(decoder.name()),
                            decoder.filename(),
                            charge,
                            content.toByteArray()));
                case NEED_INPUT -> {
                    if (!ends) {
                        return;
                    }
                    if (finished) {
                        throw new AssertionError("the decoder needs input after the end");
                    }
                    finished = true;
                    decoder.finish();
                }
                case END -> {
                    return;
                }
            }
        }
    }

    private static long charge(MultipartDecoder decoder) {
        String filename = Objects.requireNonNullElse(decoder.filename(), "");
        int names = Objects.requireNonNull(decoder.name()).length() + filename.length();
        return 512 + decoder.rawHeaders().readableBytes() + (long) Character.BYTES * names;
    }

    /** {@return the complete parts} */
    List<Part> parts() {
        return parts;
    }

    /** {@return the reason for rejecting the body, or null} */
    @Nullable
    MultipartException failure() {
        return failure;
    }
}
