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

/** What the decoder says of a body that it gets at once. */
final class DecodedBody {
    private final List<Part> parts = new ArrayList<>();
    private @Nullable MultipartException failure;

    /**
     * A part.
     *
     * @param charge for a part that the form knows of, beside its content: what {@link
     *     dev.sluice.form.FormOptions#maxInMemoryBytes()} says
     */
    record Part(int index, String name, @Nullable String filename, long charge, byte[] content) {}

    /**
     * Decodes a body.
     *
     * @param body all of it, or what there is of it; <em>transferred</em>
     * @param ends whether nothing comes after it
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
                        throw new AssertionError("needs input after the end");
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

    /** {@return the parts that are whole} */
    List<Part> parts() {
        return parts;
    }

    /** {@return why the body is refused, or null} */
    @Nullable
    MultipartException failure() {
        return failure;
    }
}
