package dev.sluice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A run of a decoder over a body in chunks, with all results. */
public final class Decoding implements AutoCloseable {
    /** A part. It is {@code complete} after its PART_END. */
    public record Part(
            int index,
            List<PartHead.Header> headers,
            @Nullable String name,
            @Nullable String filename,
            @Nullable String contentType,
            long offset,
            String body,
            boolean complete) {}

    public record Failure(MultipartException.Reason reason, long offset, int part) {}

    /** Everything that must not depend on the chunks. */
    public record Result(
            List<Part> parts,
            List<ReportedDeviation> deviations,
            long deviationCount,
            long size,
            @Nullable Failure failure) {
        List<String> reasons() {
            return failure == null ? List.of() : List.of(failure.reason().name());
        }
    }

    private final MultipartDecoder decoder;
    private final List<Part> parts = new ArrayList<>();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private @Nullable PartHead open;
    private @Nullable Failure failure;

    public Decoding(Boundary boundary, MultipartOptions options) {
        this.decoder = MultipartDecoder.create(boundary, options);
    }

    /** Decodes bytes given as ISO-8859-1 text, in one chunk. */
    static Result decode(String body, Preset preset) {
        return decode(body, MultipartOptions.builder().preset(preset).build(), Integer.MAX_VALUE);
    }

    public static Result decode(String body, MultipartOptions options, int chunkSize) {
        return decode(Boundary.of("x"), bytes(body), options, chunkSize);
    }

    static Result decode(Boundary boundary, byte[] body, MultipartOptions options, int chunkSize) {
        List<ByteBuf> chunks = new ArrayList<>();
        for (int from = 0; from < body.length; ) {
            int to = (int) Math.min(body.length, (long) from + chunkSize);
            chunks.add(Unpooled.wrappedBuffer(body, from, to - from));
            from = to;
        }
        return decode(boundary, options, chunks);
    }

    /** @param chunks <em>transferred</em> */
    public static Result decode(Boundary boundary, MultipartOptions options, List<ByteBuf> chunks) {
        try (Decoding decoding = new Decoding(boundary, options)) {
            chunks.forEach(decoding::feed);
            return decoding.finish();
        }
    }

    public static byte[] bytes(String latin1) {
        return latin1.getBytes(StandardCharsets.ISO_8859_1);
    }

    public MultipartDecoder decoder() {
        return decoder;
    }

    /** @param chunk <em>transferred</em> */
    public void feed(ByteBuf chunk) {
        decoder.feed(chunk);
        drain();
    }

    public Result finish() {
        decoder.finish();
        drain();
        return result();
    }

    Result result() {
        List<Part> all = new ArrayList<>(parts);
        if (open != null) {
            all.add(part(open, false));
        }
        return new Result(all, decoder.deviations(), decoder.deviationCount(), decoder.offset(), failure);
    }

    private void drain() {
        try {
            for (; ; ) {
                switch (decoder.next()) {
                    case PART_BEGIN -> {
                        open = head();
                        data.reset();
                    }
                    case DATA -> {
                        ByteBuf bytes = decoder.data();
                        byte[] copy = new byte[bytes.readableBytes()];
                        bytes.getBytes(bytes.readerIndex(), copy);
                        data.writeBytes(copy);
                    }
                    case PART_END -> {
                        parts.add(part(Objects.requireNonNull(open), true));
                        open = null;
                        require(decoder.partSize() == data.size(), "the size of the part is " + decoder.partSize());
                    }
                    case NEED_INPUT, END -> {
                        return;
                    }
                }
            }
        } catch (MultipartException e) {
            require(e.offset() == decoder.offset(), "the offset of the decoder is " + decoder.offset());
            failure = new Failure(e.reason(), e.offset(), e.partIndex());
        }
    }

    private PartHead head() throws MultipartException {
        PartHead head = decoder.head();
        require(
                Objects.equals(decoder.name(), head.name())
                        && Objects.equals(decoder.filename(), head.filename())
                        && Objects.equals(decoder.contentType(), head.contentType())
                        && decoder.partIndex() == head.index()
                        && decoder.partOffset() == head.offset(),
                head + " differs from its decoder");
        return head;
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + ", after " + parts);
        }
    }

    private Part part(PartHead head, boolean complete) {
        return new Part(
                head.index(),
                head.headers(),
                head.name(),
                head.filename(),
                head.contentType(),
                head.offset(),
                data.toString(StandardCharsets.ISO_8859_1),
                complete);
    }

    /** Fails with both results if they are not equal. */
    public static void assertSame(Result expected, Result actual, Object... what) {
        if (!Objects.equals(expected, actual)) {
            throw new AssertionError(List.of(what) + "\nexpected " + expected + "\nbut was  " + actual);
        }
    }

    @Override
    public void close() {
        decoder.close();
    }
}
