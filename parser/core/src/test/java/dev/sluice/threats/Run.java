package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.ReportedDeviation;
import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The decoding of one body: its results, the number of calls, and the memory held. Text is ISO-8859-1. */
final class Run {
    /** The header lines of a field called {@code a}, without the blank line. */
    static final String FIELD = "Content-Disposition: form-data; name=\"a\"\r\n";

    /** The bytes before the body of a field called {@code a}, with the boundary {@code x}. */
    static final String HEAD = "--x\r\n" + FIELD + "\r\n";

    static final String TAIL = "\r\n--x--\r\n";

    static final List<Preset> PRESETS = List.of(Preset.STANDARD, Preset.STRICT, Preset.COMPATIBLE);

    private static final int KEPT = 1 << 16;

    record Part(String name, String filename, String body) {}

    /** The first 10,000 complete parts, with at most 64 KiB of each body. */
    final List<Part> parts = new ArrayList<>();

    /** The number of parts that began. */
    long begun;

    MultipartException failure;
    List<ReportedDeviation> deviations = List.of();
    long deviationCount;

    /** The number of bytes read from the source. */
    long fed;

    /** The number of calls of {@code next()}. */
    long calls;

    long chunks;

    /** The maximum number of bytes held when the decoder needs input. */
    long mostHeld;

    private Run() {}

    static Run of(String body) {
        return of(body, Preset.STANDARD);
    }

    static Run of(String body, Preset preset) {
        return of(body, MultipartOptions.builder().preset(preset).build(), 8192);
    }

    static Run of(String body, MultipartOptions options, int chunkSize) {
        return of(Boundary.of("x"), new ByteArrayInputStream(bytes(body)), options, chunkSize);
    }

    static Run of(InputStream body, MultipartOptions options, int chunkSize) {
        return of(Boundary.of("x"), body, options, chunkSize);
    }

    static Run of(Boundary boundary, InputStream body, MultipartOptions options, int chunkSize) {
        CountingAllocator memory = new CountingAllocator();
        Run run = new Run();
        try (MultipartDecoder decoder = MultipartDecoder.create(
                boundary, options.toBuilder().allocator(memory).build())) {
            run.feedAll(decoder, memory, body, chunkSize);
            run.deviations = decoder.deviations();
            run.deviationCount = decoder.deviationCount();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertEquals(List.of(), memory.unreleased());
        return run;
    }

    private void feedAll(MultipartDecoder decoder, CountingAllocator memory, InputStream body, int chunkSize)
            throws IOException {
        StringBuilder data = new StringBuilder();
        try {
            for (; ; ) {
                ByteBuf chunk = memory.heapBuffer(chunkSize, chunkSize);
                int count = chunk.writeBytes(body, chunkSize);
                if (count < 0) {
                    chunk.release();
                    decoder.finish();
                    drain(decoder, data);
                    return;
                }
                fed += count;
                chunks++;
                decoder.feed(chunk);
                drain(decoder, data);
                assertTrue(memory.liveCount() <= 1, "more than a header section is held");
                mostHeld = Math.max(mostHeld, memory.liveBytes());
            }
        } catch (MultipartException e) {
            failure = e;
        }
    }

    private void drain(MultipartDecoder decoder, StringBuilder data) throws MultipartException {
        for (; ; ) {
            calls++;
            switch (decoder.next()) {
                case PART_BEGIN -> {
                    begun++;
                    data.setLength(0);
                }
                case DATA -> {
                    int room = Math.max(0, KEPT - data.length());
                    ByteBuf bytes = decoder.data();
                    data.append(bytes.toString(
                            bytes.readerIndex(), Math.min(room, bytes.readableBytes()), StandardCharsets.ISO_8859_1));
                }
                case PART_END -> {
                    if (parts.size() < 10_000) {
                        parts.add(new Part(decoder.name(), decoder.filename(), data.toString()));
                    }
                }
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    Run assertAccepted() {
        assertNull(failure);
        return this;
    }

    Run assertRejected(Reason reason) {
        assertNotNull(failure, "the body was not rejected");
        assertEquals(reason, failure.reason(), failure.getMessage());
        return this;
    }

    static String field(String name, String value) {
        return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }

    static String file(String name, String filename, String value) {
        return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename + "\"\r\n\r\n"
                + value + "\r\n";
    }

    static byte[] bytes(String latin1) {
        return latin1.getBytes(StandardCharsets.ISO_8859_1);
    }

    static MultipartOptions options(UnaryOperator<MultipartOptions.Builder> limits) {
        return options(Preset.STANDARD, limits);
    }

    static MultipartOptions options(Preset preset, UnaryOperator<MultipartOptions.Builder> limits) {
        return limits.apply(MultipartOptions.builder().preset(preset)).build();
    }
}
