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
public final class Decoding {
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
            long size,
            @Nullable Failure failure) {
        List<String> reasons() {
            return failure == null ? List.of() : List.of(failure.reason().name());
        }
    }

    private final MultipartDecoder decoder;
    private final List<Part> parts = new ArrayList<>();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private @Nullable Failure failure;

    Decoding(Boundary boundary, MultipartOptions options) {
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

    static Result decode(Boundary boundary, MultipartOptions options, List<ByteBuf> chunks) {
        Decoding decoding = new Decoding(boundary, options);
        try {
            for (ByteBuf chunk : chunks) {
                decoding.feed(chunk);
            }
            return decoding.finish();
        } finally {
            decoding.decoder.close();
        }
    }

    public static byte[] bytes(String latin1) {
        return latin1.getBytes(StandardCharsets.ISO_8859_1);
    }

    MultipartDecoder decoder() {
        return decoder;
    }

    /** @param chunk <em>transferred</em> */
    void feed(ByteBuf chunk) {
        decoder.feed(chunk);
        drain();
    }

    Result finish() {
        if (failure == null) {
            decoder.finish();
            drain();
        }
        return result();
    }

    Result result() {
        return new Result(List.copyOf(parts), decoder.deviations(), decoder.offset(), failure);
    }

    void drain() {
        try {
            for (; ; ) {
                switch (decoder.next()) {
                    case PART_BEGIN -> {
                        String name = decoder.name();
                        String filename = decoder.filename();
                        String contentType = decoder.contentType();
                        PartHead head = decoder.head();
                        if (!Objects.equals(name, head.name())
                                || !Objects.equals(filename, head.filename())
                                || !Objects.equals(contentType, head.contentType())
                                || head.index() != decoder.partIndex()
                                || head.offset() != decoder.partOffset()) {
                            throw new AssertionError(head + " differs from its decoder");
                        }
                        parts.add(new Part(
                                head.index(),
                                head.headers(),
                                name,
                                filename,
                                contentType,
                                decoder.partOffset(),
                                "",
                                false));
                        data.reset();
                    }
                    case DATA -> {
                        ByteBuf bytes = decoder.data();
                        byte[] copy = new byte[bytes.readableBytes()];
                        bytes.getBytes(bytes.readerIndex(), copy);
                        data.writeBytes(copy);
                        replaceLast(false);
                    }
                    case PART_END -> replaceLast(true);
                    case NEED_INPUT, END -> {
                        return;
                    }
                }
            }
        } catch (MultipartException e) {
            failure = new Failure(e.reason(), e.offset(), e.partIndex());
        }
    }

    private void replaceLast(boolean complete) {
        Part part = parts.get(parts.size() - 1);
        String body = data.toString(StandardCharsets.ISO_8859_1);
        parts.set(
                parts.size() - 1,
                new Part(
                        part.index,
                        part.headers,
                        part.name,
                        part.filename,
                        part.contentType,
                        part.offset,
                        body,
                        complete));
    }

    /** Fails with both results if they are not equal. */
    static void assertSame(Result expected, Result actual, String what) {
        if (!Objects.equals(expected, actual)) {
            throw new AssertionError(what + "\nexpected " + expected + "\nbut was  " + actual);
        }
    }
}
