package dev.sluice;

import static dev.sluice.Verdict.A;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Decoding.Failure;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Every limit at N - 1, N and N + 1, through the decoder and the reader, whole and byte by byte. */
class LimitsTest {
    private static final String PART = "--x\r\n" + A + "\r\n";
    private static final String FILE = "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n";

    /** The limit under test; all of them are set to this. */
    private static final int N = 100;

    private static MultipartOptions options(Function<MultipartOptions.Builder, MultipartOptions.Builder> setting) {
        return setting.apply(MultipartOptions.builder()).build();
    }

    /**
     * Bodies of N - 1 and N pass, one of N + 1 fails.
     *
     * @param body a body that uses so much of the limit
     * @param offset where the body of N + 1 is refused
     */
    private static void assertExact(
            String name, MultipartOptions options, IntFunction<String> body, Reason reason, long offset, int part) {
        for (int size : new int[] {N - 1, N}) {
            String accepted = body.apply(size);
            Result result = Verdict.decode(options, accepted);
            assertNull(result.failure(), () -> size + ": " + result.failure());
            read(options, accepted, failure -> assertNull(failure, () -> size + ": " + failure));
        }
        String refused = body.apply(N + 1);
        assertEquals(
                new Failure(reason, offset, part),
                Verdict.decode(options, refused).failure());
        assertMessage(name, push(options, refused), reason, offset, part);
        read(options, refused, failure -> {
            assertNotNull(failure);
            assertMessage(name, failure, reason, offset, part);
        });
    }

    /** The message says which setting, which value, where; and has the words by which Spring MVC knows a size limit. */
    private static void assertMessage(String setting, MultipartException e, Reason reason, long offset, int part) {
        assertEquals(reason, e.reason());
        assertEquals(offset, e.offset());
        assertEquals(part, e.partIndex());
        assertEquals(Kind.LIMIT_EXCEEDED, e.kind());
        assertEquals(413, e.httpStatus());
        String message = e.getMessage();
        assertTrue(message.contains("(" + setting + ";"), message);
        assertTrue(message.contains("limit of " + N), message);
        assertTrue(message.contains("offset " + offset), message);
        String where = "part " + part + (e.fieldName() == null ? "," : " \"a\",");
        assertEquals(part >= 0, message.contains(where), message);
        String lower = message.toLowerCase(Locale.ROOT);
        assertTrue(lower.contains("exceed") || lower.contains("limit"), message);
        assertTrue(lower.contains("size") || lower.contains("length") || lower.contains("count"), message);
    }

    private static MultipartException push(MultipartOptions options, String body) {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options)) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(body)));
            return assertThrows(MultipartException.class, () -> {
                while (decoder.next() != MultipartDecoder.Event.NEED_INPUT) {}
            });
        }
    }

    private interface Check {
        void accept(@Nullable MultipartException failure);
    }

    /** Reads a body through every source of the reader and checks what comes of it. */
    private static void read(MultipartOptions options, String body, Check check) {
        byte[] bytes = Decoding.bytes(body);
        Boundary boundary = Boundary.of("x");
        List<MultipartReader> readers = List.of(
                MultipartReader.create(new ByteArrayInputStream(bytes), boundary, options),
                MultipartReader.create(new OneByteStream(bytes), boundary, options),
                MultipartReader.create(Channels.newChannel(new ByteArrayInputStream(bytes)), boundary, options),
                MultipartReader.create(Channels.newChannel(new OneByteStream(bytes)), boundary, options));
        for (MultipartReader reader : readers) {
            try (reader) {
                check.accept(readAll(reader));
            }
        }
    }

    private static @Nullable MultipartException readAll(MultipartReader reader) {
        try {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                part.transferTo(OutputStream.nullOutputStream());
            }
            return null;
        } catch (MultipartException e) {
            return e;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Gives one byte at a time. */
    static class OneByteStream extends ByteArrayInputStream {
        OneByteStream(byte[] bytes) {
            super(bytes);
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            return super.read(target, offset, Math.min(1, length));
        }
    }

    // ---- every limit

    @Test
    void maxBodyBytesIsExact() {
        String close = "\r\n--x--";
        assertExact(
                "maxBodyBytes",
                options(limits -> limits.maxBodyBytes(N)),
                size -> PART + "v".repeat(size - PART.length() - close.length()) + close,
                Reason.BODY_TOO_LARGE,
                N,
                0);
    }

    @Test
    void maxBodyBytesCountsTheEpilogueAndThePreamble() {
        assertExact(
                "maxBodyBytes",
                options(limits -> limits.maxBodyBytes(N)),
                size -> "--x--\r\n" + "e".repeat(size - 7),
                Reason.BODY_TOO_LARGE,
                N,
                -1);
        assertExact(
                "maxBodyBytes",
                options(limits -> limits.maxBodyBytes(N)),
                size -> "p".repeat(size - PART.length() - 9) + "\r\n" + PART + "\r\n--x--",
                Reason.BODY_TOO_LARGE,
                N,
                0);
    }

    @Test
    void maxPartBytesIsExact() {
        assertExact(
                "maxPartBytes",
                options(limits -> limits.maxPartBytes(N)),
                size -> PART + "\r\n" + PART + "v".repeat(size) + "\r\n--x--",
                Reason.PART_TOO_LARGE,
                PART.length() + 2 + PART.length() + N,
                1);
    }

    @Test
    void maxPartBytesHoldsForAFileAsForAField() {
        assertExact(
                "maxPartBytes",
                options(limits -> limits.maxPartBytes(N)),
                size -> FILE + "v".repeat(size) + "\r\n--x--",
                Reason.PART_TOO_LARGE,
                FILE.length() + N,
                0);
    }

    @Test
    void maxPartBytesCountsWhatOnlyLookedLikeADelimiter() {
        assertExact(
                "maxPartBytes",
                options(limits -> limits.maxPartBytes(N)),
                size -> PART + "v".repeat(size - 4) + "\r\n--" + "\r\n--x--",
                Reason.PART_TOO_LARGE,
                PART.length() + N,
                0);
        assertExact(
                "maxPartBytes",
                options(limits -> limits.maxPartBytes(N)),
                size -> PART + "v".repeat(size - 2) + "\r\n" + "\r\n--x--",
                Reason.PART_TOO_LARGE,
                PART.length() + N,
                0);
    }

    @Test
    void everythingUpToTheLimitOfAPartIsHandedOut() {
        Result result =
                Verdict.decode(options(limits -> limits.maxPartBytes(N)), PART + "v".repeat(N + 1) + "\r\n--x--");
        assertEquals("v".repeat(N), result.parts().get(0).body());
        assertFalse(result.parts().get(0).complete());
    }

    @Test
    void maxPartsIsExact() {
        long line = (long) N * (PART.length() + 3);
        assertExact(
                "maxParts",
                options(limits -> limits.maxParts(N)),
                size -> (PART + "v\r\n").repeat(size) + "--x--",
                Reason.TOO_MANY_PARTS,
                line + "--x\r\n".length() - 1,
                N);
    }

    @Test
    void maxFilesCountsPartsWithAFilenameOnlyEvenIfItIsEmpty() {
        String empty = FILE.replace("\"f\"", "\"\"");
        String pair = PART + "v\r\n" + empty + "\r\n";
        assertExact(
                "maxFiles",
                options(limits -> limits.maxFiles(N)),
                size -> pair.repeat(size) + "--x--",
                Reason.TOO_MANY_FILES,
                (long) N * pair.length() + PART.length() + 3 + "--x\r\nContent-Disposition: ".length(),
                2 * N + 1);
    }

    @Test
    void maxFilesCountsAFilenameStarToo() {
        String file = "--x\r\nContent-Disposition: form-data; name=\"a\"; filename*=UTF-8''f\r\n\r\n\r\n";
        assertExact(
                "maxFiles",
                options(limits -> limits.maxFiles(N)),
                size -> file.repeat(size) + "--x--",
                Reason.TOO_MANY_FILES,
                (long) N * file.length() + "--x\r\nContent-Disposition: ".length(),
                N);
    }

    @Test
    void maxHeadersPerPartIsExact() {
        assertExact(
                "maxHeadersPerPart",
                options(limits -> limits.maxHeadersPerPart(N)),
                size -> "--x\r\n" + A + "X:\r\n".repeat(size - 1) + "\r\nv\r\n--x--",
                Reason.TOO_MANY_HEADERS,
                5 + A.length() + 4L * (N - 1),
                0);
    }

    @Test
    void maxHeaderBytesPerPartIsExactAndCountsLineEndsAndTheBlankLine() {
        assertExact(
                "maxHeaderBytesPerPart",
                options(limits -> limits.maxHeaderBytesPerPart(N)),
                size -> "--x\r\n" + A + "X:" + "v".repeat(size - A.length() - 6) + "\r\n\r\nv\r\n--x--",
                Reason.HEADER_SECTION_TOO_LARGE,
                5 + N,
                0);
    }

    @Test
    void maxHeaderBytesIsExactOverAllParts() {
        int first = A.length() + 2;
        assertExact(
                "maxHeaderBytes",
                options(limits -> limits.maxHeaderBytes(N)),
                size -> PART + "v\r\n--x\r\n" + A + "X:" + "v".repeat(size - first - A.length() - 6)
                        + "\r\n\r\nv\r\n--x--",
                Reason.HEADERS_TOO_LARGE,
                PART.length() + 3 + 5 + N - first,
                1);
    }

    @Test
    void maxPreambleBytesIsExact() {
        assertExact(
                "maxPreambleBytes",
                options(limits -> limits.maxPreambleBytes(N)),
                size -> "p".repeat(size) + "\r\n" + PART + "v\r\n--x--",
                Reason.PREAMBLE_TOO_LARGE,
                N,
                -1);
        assertExact(
                "maxPreambleBytes",
                options(limits -> limits.maxPreambleBytes(N)),
                size -> "\r\n" + "p".repeat(size - 4) + "\r\n" + "\r\n" + PART + "v\r\n--x--",
                Reason.PREAMBLE_TOO_LARGE,
                N,
                -1);
    }

    @Test
    void maxEpilogueBytesIsExact() {
        assertExact(
                "maxEpilogueBytes",
                options(limits -> limits.maxEpilogueBytes(N)),
                size -> PART + "v\r\n--x--\r\n" + "e".repeat(size),
                Reason.EPILOGUE_TOO_LARGE,
                PART.length() + 10 + N,
                -1);
    }

    @Test
    void maxFieldBytesIsExactForAPartReadAsText() throws IOException {
        MultipartOptions options = options(limits -> limits.maxFieldBytes(N));
        for (int size : new int[] {N - 1, N, N + 1}) {
            byte[] body = Decoding.bytes(PART + "v".repeat(size) + "\r\n" + PART + "w\r\n--x--");
            for (InputStream in : List.of(new ByteArrayInputStream(body), new OneByteStream(body))) {
                try (MultipartReader reader = MultipartReader.create(in, Boundary.of("x"), options)) {
                    MultipartReader.Part part = reader.nextPart();
                    assertNotNull(part);
                    if (size <= N) {
                        assertEquals("v".repeat(size), part.text());
                    } else {
                        MultipartException e = assertThrows(MultipartException.class, part::text);
                        assertMessage("maxFieldBytes", e, Reason.FIELD_TOO_LARGE, PART.length() + N, 0);
                    }
                }
            }
        }
    }

    @Test
    void aLimitOfZeroLetsNothingPass() {
        assertEquals(
                new Failure(Reason.BODY_TOO_LARGE, 0, -1),
                Verdict.decode(options(limits -> limits.maxBodyBytes(0)), "--x--")
                        .failure());
        assertNull(Verdict.decode(options(limits -> limits.maxPartBytes(0)), PART + "--x--")
                .failure());
        assertEquals(
                new Failure(Reason.PART_TOO_LARGE, PART.length(), 0),
                Verdict.decode(options(limits -> limits.maxPartBytes(0)), PART + "v\r\n--x--")
                        .failure());
        assertEquals(
                new Failure(Reason.TOO_MANY_PARTS, 4, 0),
                Verdict.decode(options(limits -> limits.maxParts(0)), PART + "--x--")
                        .failure());
        assertNull(
                Verdict.decode(options(limits -> limits.maxParts(0)), "--x--").failure());
        assertEquals(
                new Failure(Reason.HEADER_SECTION_TOO_LARGE, 5, 0),
                Verdict.decode(options(limits -> limits.maxHeaderBytesPerPart(0)), PART + "--x--")
                        .failure());
        assertEquals(
                new Failure(Reason.HEADERS_TOO_LARGE, 5, 0),
                Verdict.decode(options(limits -> limits.maxHeaderBytes(0)), PART + "--x--")
                        .failure());
        assertEquals(
                new Failure(Reason.TOO_MANY_HEADERS, 5, 0),
                Verdict.decode(options(limits -> limits.maxHeadersPerPart(0)), PART + "--x--")
                        .failure());
        assertEquals(
                new Failure(Reason.PREAMBLE_TOO_LARGE, 0, -1),
                Verdict.decode(options(limits -> limits.maxPreambleBytes(0)), "p\r\n" + PART + "\r\n--x--")
                        .failure());
        assertNull(Verdict.decode(options(limits -> limits.maxPreambleBytes(0)), "\r\n" + PART + "\r\n--x--")
                .failure());
        assertEquals(
                new Failure(Reason.EPILOGUE_TOO_LARGE, 7, -1),
                Verdict.decode(options(limits -> limits.maxEpilogueBytes(0)), "--x--\r\ne")
                        .failure());
    }

    @Test
    void everyRemainingHeaderBudgetIsKeptToTheByte() {
        // no arithmetic goes below zero, however little is left at the start of a part
        int first = A.length() + 2;
        for (int left = 0; left < 60; left++) {
            long max = first + left;
            Result result = Verdict.decode(
                    options(limits -> limits.maxHeaderBytes(max)), PART + "v\r\n--x\r\nX: " + "y".repeat(2000));
            assertEquals(new Failure(Reason.HEADERS_TOO_LARGE, PART.length() + 3 + 5 + left, 1), result.failure());
        }
    }

    // ---- values

    @Test
    void the1001stPartIsRefusedByDefault() {
        String part = PART + "\r\n";
        Result result = Decoding.decode(part.repeat(1001) + "--x--", MultipartOptions.defaults(), 64 * 1024);
        assertEquals(1000, result.parts().size());
        assertEquals(new Failure(Reason.TOO_MANY_PARTS, 1000L * part.length() + 4, 1000), result.failure());
    }

    @Test
    void sizesBeyondIntAreKept() {
        for (long value : new long[] {Integer.MAX_VALUE, 1L << 31, 1L << 32, Long.MAX_VALUE - 1}) {
            MultipartOptions limits = MultipartOptions.builder()
                    .maxBodyBytes(value)
                    .maxPartBytes(value)
                    .maxFieldBytes(value)
                    .maxParts(value)
                    .maxFiles(value)
                    .maxHeaderBytes(value)
                    .build();
            assertEquals(value, limits.maxBodyBytes());
            assertEquals(value, limits.maxPartBytes());
            assertEquals(value, limits.maxFieldBytes());
            assertEquals(value, limits.maxParts());
            assertEquals(value, limits.maxFiles());
            assertEquals(value, limits.maxHeaderBytes());
            assertNull(
                    Verdict.decode(limits, PART + "v\r\n" + FILE + "w\r\n--x--").failure());
            read(limits, PART + "v\r\n" + FILE + "w\r\n--x--", failure -> assertNull(failure));
        }
    }
}
