package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Decoding.Failure;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MultipartDecoderTest {
    private static final String CD = "Content-Disposition: form-data; name=\"a\"\r\n";

    private static String part(String body) {
        return "--x\r\n" + CD + "\r\n" + body;
    }

    @Test
    void contentType_formData_isAccepted() throws MultipartException {
        MultipartDecoder.create("multipart/form-data; boundary=x").close();
        MultipartDecoder.create(Boundary.anyMultipart("multipart/mixed; boundary=x"))
                .close();
    }

    /** If other multipart types were accepted, a client could choose a type whose parts need no names. */
    @Test
    void contentType_notFormData_isRejected() {
        for (String type : List.of("multipart/mixed; boundary=x", "multipart/mixed", "text/plain")) {
            MultipartException e = assertThrows(MultipartException.class, () -> MultipartDecoder.create(type), type);
            assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, e.reason(), type);
            assertEquals(415, e.httpStatus(), type);
            assertEquals("the Content-Type is not multipart/form-data", e.getMessage(), type);
        }
    }

    /** Indices of the chunk are not offsets in the body. */
    @Test
    void feed_startsAtReaderIndex() {
        String body = part("one") + "\r\n--x--\r\n";
        MultipartOptions justEnough = withMaxBodyBytes(body.length());
        Result whole = Decoding.decode(body, justEnough, Integer.MAX_VALUE);
        assertEquals(List.of(), whole.reasons());
        Decoding.assertSame(
                whole, Decoding.decode(Boundary.of("x"), justEnough, List.of(afterSkippedBytes(body))), "read in part");

        MultipartOptions tooLittle = withMaxBodyBytes(body.length() - 1);
        assertEquals(
                new Failure(Reason.BODY_TOO_LARGE, body.length() - 1, -1),
                Decoding.decode(Boundary.of("x"), tooLittle, List.of(afterSkippedBytes(body)))
                        .failure());
        String broken = part("one") + "\r\n--x--!";
        assertEquals(
                new Failure(Reason.MALFORMED_DELIMITER, broken.length() - 1, -1),
                Decoding.decode(Boundary.of("x"), MultipartOptions.defaults(), List.of(afterSkippedBytes(broken)))
                        .failure());
    }

    private static MultipartOptions withMaxBodyBytes(int bytes) {
        return MultipartOptions.builder().maxBodyBytes(bytes).build();
    }

    private static ByteBuf afterSkippedBytes(String body) {
        return Unpooled.wrappedBuffer(Decoding.bytes("0123456" + body)).skipBytes(7);
    }

    /** Even if the caller moves the internal NIO buffer of a chunk, which is not allowed, the decoder must not read beyond the chunk. */
    @Test
    void directChunk_internalBufferMoved_isReadCorrectly() throws Exception {
        ByteBuf chunk = Unpooled.directBuffer().writeBytes(Decoding.bytes(part("one") + "\r\n--x--\r\n"));
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), MultipartOptions.defaults())) {
            decoder.feed(chunk);
            assertEquals(Event.PART_BEGIN, decoder.next());
            assertEquals(Event.DATA, decoder.next());
            chunk.internalNioBuffer(0, 1);
            assertEquals(Event.PART_END, decoder.next());
            assertEquals(Event.NEED_INPUT, decoder.next());
        }
    }

    @Test
    void partSize_isTheSizeOfTheDataSoFar() throws Exception {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), MultipartOptions.defaults())) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(part("one"))));
            assertEquals(Event.PART_BEGIN, decoder.next());
            assertEquals(0, decoder.partSize());
            assertEquals(part("").length(), decoder.partOffset());
            assertEquals(decoder.partOffset(), decoder.offset());
            assertEquals(Event.DATA, decoder.next());
            assertEquals(3, decoder.partSize());
            assertEquals(Event.NEED_INPUT, decoder.next());
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes("four\r\n--x--")));
            assertEquals(Event.DATA, decoder.next());
            assertEquals(7, decoder.partSize());
            assertEquals(Event.PART_END, decoder.next());
            assertEquals(7, decoder.partSize());
        }
    }

    @Test
    void delimiter_afterLoneLfOrCr_followsThePreset() {
        Preset lines = Preset.STRICT.accepting(Deviation.BARE_LF);
        String two = part("1") + "\n" + part("2") + "\r\n--x--";
        assertEquals(2, Verdict.assertAccepted(lines, two).parts().size());
        Verdict.assertRejected(lines, part("1") + "\r--^x\n--x--", Reason.MALFORMED_DELIMITER, 0);
        Preset data = Preset.STRICT.accepting(Deviation.LOOKALIKE_DELIMITER);
        assertEquals(1, Verdict.assertAccepted(data, two).parts().size());
        Preset falseOnes = Preset.STRICT.accepting(Deviation.FALSE_DELIMITER);
        Verdict.assertRejected(falseOnes, part("1") + "\r\n--x\r--^x", Reason.MALFORMED_DELIMITER, 0);
    }

    @Test
    void bytesBeforeSplitLookalike_areDeliveredAtOnce() throws Exception {
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), strict)) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(part("one\n--"))));
            assertEquals(Event.PART_BEGIN, decoder.next());
            assertEquals(Event.DATA, decoder.next());
            assertEquals(6, decoder.data().readableBytes());
            assertEquals(Event.NEED_INPUT, decoder.next());
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes("xyz")));
            MultipartException rejection = assertThrows(MultipartException.class, decoder::next);
            assertEquals(part("one\n--").length(), rejection.offset());
            assertTrue(
                    rejection.getMessage().startsWith("a delimiter follows a bare CR or LF ("), rejection::getMessage);
        }
    }

    /** Consecutive heads may share positions, but only if all of them are equal. */
    @Test
    void head_isUnchangedByHeadersOfTheNextPart() throws Exception {
        String body = "--x\r\nContent-Disposition: form-data; name=a\r\nX: 1\r\nx:2\r\n\r\n\r\n"
                + "--x\r\nX: 3\r\n 4\r\nContent-Disposition: form-data; name=b\r\nContent-Type: t/p;\r\n\tq=r\r\n\r\n\r\n"
                + "--x\r\nY: 5\r\n 6\r\nContent-Disposition: form-data; name=c\r\nContent-Type: t/s;\r\n\tq=r\r\n\r\n\r\n--x--";
        List<PartHead> heads = new ArrayList<>();
        try (MultipartDecoder decoder = MultipartDecoder.create(
                Boundary.of("x"),
                MultipartOptions.builder().preset(Preset.COMPATIBLE).build())) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(body)));
            for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                if (event == Event.PART_BEGIN) {
                    heads.add(decoder.head());
                }
            }
        }
        assertEquals(List.of("1", "2"), heads.get(0).headers("x"));
        assertEquals("1", heads.get(0).header("X"));
        assertEquals(List.of(), heads.get(0).headers("y"));
        assertNull(heads.get(0).contentType());
        assertEquals(
                List.of(
                        new PartHead.Header("X", "3 4"),
                        new PartHead.Header("Content-Disposition", "form-data; name=b"),
                        new PartHead.Header("Content-Type", "t/p; q=r")),
                heads.get(1).headers());
        assertEquals("t/p; q=r", heads.get(1).contentType());
        assertEquals("5 6", heads.get(2).header("y"));
        assertEquals("t/s; q=r", heads.get(2).contentType());
        assertEquals("t/s; q=r", new String(heads.get(2).rawHeader(2), StandardCharsets.US_ASCII));
    }

    @Test
    void offset_afterClose_isUnchanged() throws Exception {
        MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), MultipartOptions.defaults());
        decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(part("one") + "\r\n--x--")));
        assertEquals(Event.PART_BEGIN, decoder.next());
        long before = decoder.offset();
        assertEquals(part("").length(), before);
        decoder.close();
        assertEquals(before, decoder.offset());
    }

    @Test
    void byteAfterDelimiter_unexpected_messageNamesIt() {
        String delimiter = part("one") + "\r\n--x";
        assertEquals("unexpected byte after a delimiter: '!'", messageOf(delimiter + "!"));
        assertEquals("unexpected byte after a delimiter: '!'", messageOf(delimiter + " ".repeat(256) + "!"));
        assertEquals("unexpected byte after a delimiter: '!'", messageOf(delimiter + " ".repeat(255) + "!"));
        assertEquals(
                "the padding after a delimiter exceeds the limit of 256 bytes",
                messageOf(delimiter + " ".repeat(256) + "\t"));
        assertEquals("unexpected byte after the close-delimiter: '!'", messageOf(delimiter + "--!"));
    }

    private static String messageOf(String body) {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), MultipartOptions.defaults())) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(body)));
            MultipartException rejected = assertThrows(MultipartException.class, () -> {
                while (decoder.next() != Event.NEED_INPUT) {}
            });
            assertEquals(Reason.MALFORMED_DELIMITER, rejected.reason());
            return rejected.getMessage().replaceFirst(" \\((part|offset) .*", "");
        }
    }

    @Test
    void preamble_isRejectedAtItsFirstByteOrFalseDelimiter() {
        Preset lenient = Preset.STRICT.accepting(Deviation.FALSE_DELIMITER);
        String form = part("one") + "\r\n--x--\r\n";
        Verdict.assertRejected(lenient, "^junk\r\n--x!\r\n" + form, Reason.PREAMBLE, -1);
        Verdict.assertRejected(lenient, "--x^!\r\n" + form, Reason.PREAMBLE, -1);
    }

    /** Deviations after the first hundred are counted but not kept. */
    @Test
    void deviations_areReportedOncePerPartAndCountedBeyondAHundred() throws Exception {
        int parts = 130;
        String folded = "--x\r\nA:b\r\n c\r\nD:e\r\n f\r\n" + CD + "\r\nv\r\n";
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), MultipartOptions.defaults())) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(folded.repeat(parts) + "--x--")));
            while (decoder.next() != Event.NEED_INPUT) {}
            assertEquals(parts, decoder.deviationCount());
            assertEquals(100, decoder.deviations().size());
            assertEquals(99, decoder.deviations().get(99).partIndex());
        }
    }

    @Test
    void preamble_exceedsLimitAtLookalike_isTooLarge() {
        MultipartOptions options = MultipartOptions.builder()
                .preset(Preset.STRICT.accepting(Deviation.PREAMBLE))
                .maxPreambleBytes(5)
                .build();
        Result result = Decoding.decode("ab\r--x\r\n", options, Integer.MAX_VALUE);
        assertEquals(new Failure(Reason.PREAMBLE_TOO_LARGE, 5, -1), result.failure());
    }

    @Test
    void body_endsEarly_isTruncatedAtItsSize() {
        String body = part("") + "v\r\n--x\r\n" + CD + "X: y\r\n\r\nw\r\n--x--";
        int secondPart = body.lastIndexOf("--x\r\n") + 5;
        for (int size = 0; size < body.length(); size++) {
            int part = size < 5 ? -1 : size < secondPart ? 0 : 1;
            for (Preset preset : Verdict.ALL) {
                Result result = Verdict.assertRejected(preset, body.substring(0, size), Reason.TRUNCATED, part);
                assertEquals(size, result.size());
                assertEquals(
                        size < secondPart ? 0 : 1,
                        result.parts().stream().filter(Decoding.Part::complete).count());
            }
        }
        Verdict.assertAccepted(Verdict.ALL, body);
    }

    /** Common mistakes of clients and servers, each with its message. */
    @Test
    void bodyWithoutDelimiter_messageNamesTheLikelyCause() throws MultipartException {
        String none = "the boundary of the Content-Type does not occur in the body, which begins with ";
        assertFault("", "the body is empty: nothing arrived, or something has already read it (offset 0)");
        assertFault("--other\r\n\r\nv\r\n--other--", none + "--other (offset 23)");
        assertFault("{\"a\":1}", none + "'{' (offset 7)");
        assertFault("--${jndi:x}", none + "-- (offset 11)");
        for (String first : List.of("p", "#")) {
            assertFault(
                    first.repeat(5000),
                    "the size of the preamble exceeds the limit of 4096 bytes: " + none + "'" + first
                            + "' (maxPreambleBytes; offset 4096)");
        }
        assertFault("--0123456789abcdefghi", none + "--0123456789abcd (offset 21)");
        assertFault("----xyz\r\n\r\n", "the body has two dashes too many before its boundary (offset 11)");
        assertFault("xyz\r\n\r\n", "the body lacks the two dashes before its boundary (offset 7)");
        String longOne = "b".repeat(70);
        assertFault(longOne, longOne, "the body lacks the two dashes before its boundary (offset 70)");
        assertFault("--xy", "the body ends before its close-delimiter (offset 4)");
        assertFault("--xyz", "the body ends before its close-delimiter (offset 5)");
    }

    private static void assertFault(String body, String message) throws MultipartException {
        assertFault("xyz", body, message);
    }

    private static void assertFault(String boundary, String body, String message) throws MultipartException {
        for (int size : new int[] {1, 7, 10_000}) {
            try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of(boundary))) {
                MultipartException fault = assertThrows(MultipartException.class, () -> {
                    for (int at = 0; at < body.length(); at += size) {
                        decoder.feed(
                                Unpooled.wrappedBuffer(Decoding.bytes(body), at, Math.min(size, body.length() - at)));
                        decoder.next();
                    }
                    decoder.finish();
                    decoder.next();
                });
                assertEquals(message, fault.getMessage());
            }
        }
    }

    @Test
    void partBody_empty_hasNoDataEvent() throws MultipartException {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(part("") + "\r\n--x--")));
            assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
            assertEquals(MultipartDecoder.Event.PART_END, decoder.next());
            assertEquals(MultipartDecoder.Event.NEED_INPUT, decoder.next());
        }
    }
}
