package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The value of one Content-Disposition, read by itself. */
class ContentDispositionTest {
    private static final MultipartOptions COMPATIBLE =
            MultipartOptions.builder().preset(Preset.COMPATIBLE).build();

    private static MultipartException refused(String marked) {
        int offset = marked.indexOf('^');
        String value = marked.replace("^", "");
        MultipartException e = assertThrows(MultipartException.class, () -> ContentDisposition.parse(value), value);
        assertEquals(offset, e.offset(), value + ": " + e.getMessage());
        assertEquals(-1, e.partIndex());
        return e;
    }

    @Test
    void typeNameAndFilenameAreRead() throws MultipartException {
        ContentDisposition read = ContentDisposition.parse("Form-Data; name=\"a\"; filename=\"b.txt\"");
        assertEquals("form-data", read.type());
        assertEquals("a", read.name());
        assertEquals("b.txt", read.filename());
        assertEquals("b.txt", read.safeFilename());
    }

    @Test
    void whatIsNotGivenIsNull() throws MultipartException {
        ContentDisposition read = ContentDisposition.parse("form-data");
        assertNull(read.name());
        assertNull(read.filename());
        assertNull(read.safeFilename());
        assertNull(read.rawName());
        assertNull(read.rawFilename());
    }

    @Test
    void anEmptyFilenameIsEmptyAndNotNull() throws MultipartException {
        ContentDisposition read = ContentDisposition.parse("form-data; name=\"a\"; filename=\"\"");
        assertEquals("", read.filename());
        assertEquals("", read.safeFilename());
        assertArrayEquals(new byte[0], read.rawFilename());
    }

    @Test
    void theSafeFilenameIsABaseName() throws MultipartException {
        ContentDisposition read = ContentDisposition.parse("form-data; name=a; filename=\"..\\\\..\\con.txt\"");
        assertEquals("..\\..\\con.txt", read.filename());
        assertEquals("_con.txt", read.safeFilename());
    }

    @Test
    void rawBytesHaveTheirEscapesUndoneAndAreCopies() throws MultipartException {
        ContentDisposition read = ContentDisposition.parse("form-data; name=\"\u00fc\\\"\"; filename=\"C:\\\\d\\e\"");
        assertArrayEquals("\u00fc\"".getBytes(StandardCharsets.UTF_8), read.rawName());
        assertArrayEquals("C:\\d\\e".getBytes(StandardCharsets.UTF_8), read.rawFilename());
        byte[] raw = read.rawName();
        assertNotNull(raw);
        raw[0] = 0;
        assertNotSame(raw, read.rawName());
        assertArrayEquals("\u00fc\"".getBytes(StandardCharsets.UTF_8), read.rawName());
    }

    @Test
    void whatBreaksTheGrammarIsToldWithItsPlaceInTheValue() {
        assertEquals(
                Reason.MALFORMED_CONTENT_DISPOSITION,
                refused("^attachment; name=a").reason());
        assertEquals(
                Reason.MALFORMED_CONTENT_DISPOSITION,
                refused("form-data; name=\"a\"^b").reason());
        assertEquals(
                Reason.MALFORMED_CONTENT_DISPOSITION,
                refused("form-data ^name=a").reason());
        assertEquals(
                Reason.MALFORMED_CONTENT_DISPOSITION,
                refused("form-data; name=\"a^").reason());
        assertEquals(Reason.MALFORMED_CONTENT_DISPOSITION, refused("^").reason());
        assertEquals(
                Reason.DUPLICATE_PARAMETER,
                refused("form-data; name=a; ^name=a").reason());
    }

    @Test
    void saysWhatIsWrong() {
        assertEquals("a parameter name is expected", detail("form-data; =a", MultipartOptions.defaults()));
        assertEquals("a semicolon or the end is expected", detail("form-data a", MultipartOptions.defaults()));
        assertEquals("a disposition type is expected", detail("; name=a", MultipartOptions.defaults()));
        assertEquals(
                "a quoted value is followed by other text than a semicolon",
                detail("form-data; name=\"a\"b=\"c\"", COMPATIBLE));
    }

    private static String detail(String value, MultipartOptions options) {
        MultipartException refused =
                assertThrows(MultipartException.class, () -> ContentDisposition.parse(value, options));
        return refused.getMessage().replaceFirst("^Content-Disposition: ", "").replaceFirst(" \\(.*", "");
    }

    @Test
    void nothingIsReadBehindTheEndOfTheValue() throws MultipartException {
        for (MultipartOptions options : List.of(MultipartOptions.defaults(), COMPATIBLE)) {
            assertEquals("a parameter value is expected", detail("form-data; name=", options));
            assertEquals("the quoted value does not end", detail("form-data; name=\"a\\", options));
            assertEquals("the quoted value does not end", detail("form-data; name=\"", options));
            assertNull(ContentDisposition.parse("form-data; name", options).name());
            assertNull(ContentDisposition.parse("form-data;", options).name());
        }
    }

    @Test
    void extendedValuesAreDecodedToTheirEndAndNotBeyond() throws MultipartException {
        assertEquals("a b", extended("UTF-8''a%20b"));
        assertEquals("\u0000\t0", extended("UTF-8''%00%09%30"));
        assertEquals("", extended("UTF-8''"));
        for (String broken : List.of("UTF-8''%4", "UTF-8''%", "UTF-8''%4x", "UTF-8", "UTF-8'", "'", "x''a")) {
            assertNull(extended(broken), broken);
        }
    }

    private static @Nullable String extended(String value) throws MultipartException {
        return ContentDisposition.parse("form-data; name=a; filename*=" + value, COMPATIBLE)
                .filename();
    }

    @Test
    void aFileNameMayHaveMoreThanAHundredPieces() throws MultipartException {
        StringBuilder value = new StringBuilder("form-data; name=a");
        for (int i = 0; i <= 100; i++) {
            value.append("; filename*").append(i).append('=').append(i % 10);
        }
        String joined = ContentDisposition.parse(value.toString(), COMPATIBLE).filename();
        assertEquals("0123456789".repeat(10) + "0", joined);
    }

    @Test
    void aBackslashBeforeABackslashIsAnEscape() throws MultipartException {
        ContentDisposition read = ContentDisposition.parse("form-data; name=\"a\\\\\"; filename=\"\\\\\\\\b\"");
        assertEquals("a\\", read.name());
        assertEquals("\\\\b", read.filename());
    }

    @Test
    void anEncodedWordIsFourCharactersAtLeast() throws MultipartException {
        assertEquals(
                "b",
                ContentDisposition.parse("form-data; name=a; filename=\"=??=\"; filename*=UTF-8''b")
                        .filename());
        assertEquals(
                "=?=",
                ContentDisposition.parse("form-data; name=a; filename=\"=?=\"; filename*=UTF-8''b")
                        .filename());
    }

    @Test
    void piecesMayHaveBlanksAroundTheirEqualsSignsQuotesAndEscapes() throws MultipartException {
        assertEquals(
                "a\"b c",
                ContentDisposition.parse(
                                "form-data; name=a; filename*0 = \"a\\\"b\"; filename*1 =\" c\"; filename** = x; filename*2x=d",
                                COMPATIBLE)
                        .filename());
        assertEquals(
                "0123456789",
                ContentDisposition.parse(
                                "form-data; name=a; filename*0=0; filename*1=1; filename*2=2; filename*3=3; filename*4=4"
                                        + "; filename*5=5; filename*6=6; filename*7=7; filename*8=8; filename*9=9; filename*-=x; filename*a=y",
                                COMPATIBLE)
                        .filename());
    }

    @Test
    void controlCharactersAreRefusedHereToo() {
        for (String value : List.of(
                "form-data; name=\"a^\r\nX: y\"",
                "form-data; name=\"a^\nb\"",
                "form-data; name=\"a^\u0000b\"",
                "form-data; name=a^\u007f")) {
            assertEquals(Reason.MALFORMED_HEADER, refused(value).reason());
        }
    }

    @Test
    void theOffsetCountsBytesOfTheHeaderCharset() {
        MultipartException e =
                assertThrows(MultipartException.class, () -> ContentDisposition.parse("form-data; name=\"\u00fc\"b"));
        assertEquals("form-data; name=\"\"".length() + 2, e.offset());
    }

    @Test
    void theOptionsDecideWhatIsAccepted() throws MultipartException {
        assertEquals(
                "a b",
                ContentDisposition.parse("attachment; name=a b", COMPATIBLE).name());
        assertEquals(
                "attachment",
                ContentDisposition.parse("attachment; name=a b", COMPATIBLE).type());
        assertEquals(
                "ab.txt",
                ContentDisposition.parse("form-data; name=a; filename*0=a; filename*1=b.txt", COMPATIBLE)
                        .filename());
        assertNull(ContentDisposition.parse("form-data; name=a; filename*0=a; filename*1=b.txt")
                .filename());
        MultipartOptions decoding =
                MultipartOptions.builder().decodePercentEscapes(true).build();
        assertEquals(
                "a\"b",
                ContentDisposition.parse("form-data; name=\"a%22b\"", decoding).name());
        assertEquals(
                "ab",
                ContentDisposition.parse("form-data; name=\"ab\"", decoding).name());
        assertEquals(
                "a%22b", ContentDisposition.parse("form-data; name=\"a%22b\"").name());
    }

    @Test
    void theDispositionOfAPartIsThatOfTheDecoder() throws MultipartException {
        String body = Verdict.disposition("form-data; name=\"a\"; filename*=UTF-8''%C3%BC; filename=\"=?x?=\"");
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(body)));
            decoder.next();
            ContentDisposition disposition = decoder.headers().contentDisposition();
            assertNotNull(disposition);
            assertEquals(decoder.name(), disposition.name());
            assertEquals(decoder.filename(), disposition.filename());
            assertEquals("\u00fc", disposition.filename());
        }
    }

    @Test
    void aDispositionThatCannotBeReadOutsideOfFormDataIsNull() throws MultipartException {
        Boundary mixed = Boundary.from("multipart/mixed; boundary=x");
        try (MultipartDecoder decoder = MultipartDecoder.create(mixed)) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes("--x\r\n"
                    + "Content-Disposition: ;=\r\n\r\n\r\n"
                    + "--x\r\n"
                    + "Content-Disposition: attachment; filename=f\r\n\r\n\r\n"
                    + "--x\r\n\r\n\r\n"
                    + "--x--")));
            assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
            assertNull(decoder.headers().contentDisposition());
            assertEquals(MultipartDecoder.Event.PART_END, decoder.next());
            assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
            ContentDisposition attachment = decoder.headers().contentDisposition();
            assertNotNull(attachment);
            assertEquals("attachment", attachment.type());
            assertEquals("f", attachment.filename());
            assertEquals(MultipartDecoder.Event.PART_END, decoder.next());
            assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
            assertNull(decoder.headers().contentDisposition());
        }
    }

    @Test
    @Timeout(30)
    void hostileValuesAreReadInOneGo() throws MultipartException {
        int many = 1 << 20;
        assertEquals(
                "\"".repeat(many),
                ContentDisposition.parse("form-data; name=\"" + "\\\"".repeat(many) + "\"")
                        .name());
        assertEquals(
                "a",
                ContentDisposition.parse("form-data; name=a" + ";x=y".repeat(many))
                        .name());
        assertThrows(
                MultipartException.class,
                () -> ContentDisposition.parse("form-data; name=" + "\"".repeat(many) + "x", COMPATIBLE));
        assertTrue(assertThrows(
                                MultipartException.class,
                                () -> ContentDisposition.parse("form-data;" + " x".repeat(many), COMPATIBLE))
                        .getMessage()
                        .length()
                < 200);
    }
}
