package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The value of one Content-Disposition. */
class ContentDispositionTest {
    private static final MultipartOptions COMPATIBLE =
            MultipartOptions.builder().preset(Preset.COMPATIBLE).build();

    private static MultipartException refused(String marked) {
        int offset = marked.indexOf('^');
        String value = marked.replace("^", "");
        MultipartException e = assertThrows(MultipartException.class, () -> Heads.of(value), value);
        assertEquals(Heads.FIELD.length() + offset, e.offset(), value + ": " + e.getMessage());
        assertEquals(0, e.partIndex());
        return e;
    }

    @Test
    void typeNameAndFilenameAreRead() throws MultipartException {
        PartHead read = Heads.of("Form-Data; name=\"a\"; filename=\"b.txt\"");
        assertEquals("a", read.name());
        assertEquals("b.txt", read.filename());
        assertEquals("b.txt", read.safeFilename());
    }

    @Test
    void whatIsNotGivenIsNull() throws MultipartException {
        PartHead read = Heads.outsideOfFormData("form-data", MultipartOptions.defaults());
        assertNull(read.name());
        assertNull(read.filename());
        assertNull(read.safeFilename());
    }

    @Test
    void anEmptyFilenameIsEmptyAndNotNull() throws MultipartException {
        PartHead read = Heads.of("form-data; name=\"a\"; filename=\"\"");
        assertEquals("", read.filename());
        assertEquals("", read.safeFilename());
    }

    @Test
    void theSafeFilenameIsABaseName() throws MultipartException {
        PartHead read = Heads.of("form-data; name=a; filename=\"..\\\\..\\con.txt\"");
        assertEquals("..\\..\\con.txt", read.filename());
        assertEquals("_con.txt", read.safeFilename());
    }

    @Test
    void escapesAreUndoneAndRawBytesAreAsTheyCameAndCopies() throws MultipartException {
        String value = "form-data; name=\"\u00fc\\\"\"; filename=\"C:\\\\d\\e\"";
        PartHead read = Heads.of(value);
        assertEquals("\u00fc\"", read.name());
        assertEquals("C:\\d\\e", read.filename());
        byte[] raw = read.rawHeader(0);
        assertArrayEquals(value.getBytes(StandardCharsets.UTF_8), raw);
        raw[0] = 0;
        assertNotSame(raw, read.rawHeader(0));
        assertArrayEquals(value.getBytes(StandardCharsets.UTF_8), read.rawHeader(0));
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
        assertEquals(
                Reason.MALFORMED_CONTENT_DISPOSITION,
                refused("form-data; name=\"a^\r\nX: y\"").reason());
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
        MultipartException refused = assertThrows(MultipartException.class, () -> Heads.of(value, options));
        return refused.getMessage().replaceFirst("^Content-Disposition: ", "").replaceFirst(" \\(.*", "");
    }

    @Test
    void nothingIsReadBehindTheEndOfTheValue() throws MultipartException {
        for (MultipartOptions options : List.of(MultipartOptions.defaults(), COMPATIBLE)) {
            assertEquals("a parameter value is expected", detail("form-data; name=", options));
            assertEquals("the quoted value does not end", detail("form-data; name=\"a\\", options));
            assertEquals("the quoted value does not end", detail("form-data; name=\"", options));
            assertNull(Heads.outsideOfFormData("form-data; name", options).name());
            assertNull(Heads.outsideOfFormData("form-data;", options).name());
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
        return Heads.of("form-data; name=a; filename*=" + value, COMPATIBLE).filename();
    }

    @Test
    void aFileNameMayHaveMoreThanAHundredPieces() throws MultipartException {
        StringBuilder value = new StringBuilder("form-data; name=a");
        for (int i = 0; i <= 100; i++) {
            value.append("; filename*").append(i).append('=').append(i % 10);
        }
        String joined = Heads.of(value.toString(), COMPATIBLE).filename();
        assertEquals("0123456789".repeat(10) + "0", joined);
    }

    @Test
    void aBackslashBeforeABackslashIsAnEscape() throws MultipartException {
        PartHead read = Heads.of("form-data; name=\"a\\\\\"; filename=\"\\\\\\\\b\"");
        assertEquals("a\\", read.name());
        assertEquals("\\\\b", read.filename());
    }

    @Test
    void anEncodedWordIsFourCharactersAtLeast() throws MultipartException {
        assertEquals(
                "b",
                Heads.of("form-data; name=a; filename=\"=??=\"; filename*=UTF-8''b")
                        .filename());
        assertEquals(
                "=?=",
                Heads.of("form-data; name=a; filename=\"=?=\"; filename*=UTF-8''b")
                        .filename());
    }

    @Test
    void piecesMayHaveBlanksAroundTheirEqualsSignsQuotesAndEscapes() throws MultipartException {
        assertEquals(
                "a\"b c",
                Heads.of(
                                "form-data; name=a; filename*0 = \"a\\\"b\"; filename*1 =\" c\"; filename** = x; filename*2x=d",
                                COMPATIBLE)
                        .filename());
        assertEquals(
                "0123456789",
                Heads.of(
                                "form-data; name=a; filename*0=0; filename*1=1; filename*2=2; filename*3=3; filename*4=4"
                                        + "; filename*5=5; filename*6=6; filename*7=7; filename*8=8; filename*9=9; filename*-=x; filename*a=y",
                                COMPATIBLE)
                        .filename());
    }

    @Test
    void controlCharactersAreRefused() {
        for (String value :
                List.of("form-data; name=\"a^\nb\"", "form-data; name=\"a^\u0000b\"", "form-data; name=a^\u007f")) {
            assertEquals(Reason.MALFORMED_HEADER, refused(value).reason());
        }
    }

    @Test
    void theOffsetCountsBytesOfTheHeaderCharset() {
        MultipartException e = assertThrows(MultipartException.class, () -> Heads.of("form-data; name=\"\u00fc\"b"));
        assertEquals(Heads.FIELD.length() + "form-data; name=\"\"".length() + 2, e.offset());
    }

    @Test
    void theOptionsDecideWhatIsAccepted() throws MultipartException {
        assertEquals("a b", Heads.of("attachment; name=a b", COMPATIBLE).name());
        assertEquals(
                "ab.txt",
                Heads.of("form-data; name=a; filename*0=a; filename*1=b.txt", COMPATIBLE)
                        .filename());
        assertNull(Heads.of("form-data; name=a; filename*0=a; filename*1=b.txt").filename());
        MultipartOptions decoding =
                MultipartOptions.builder().decodePercentEscapes(true).build();
        assertEquals("a\"b", Heads.of("form-data; name=\"a%22b\"", decoding).name());
        assertEquals("ab", Heads.of("form-data; name=\"ab\"", decoding).name());
        assertEquals("a%22b", Heads.of("form-data; name=\"a%22b\"").name());
    }

    @Test
    void theDispositionOfAPartIsThatOfTheDecoder() throws MultipartException {
        String body = Verdict.disposition("form-data; name=\"a\"; filename*=UTF-8''%C3%BC; filename=\"=?x?=\"");
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(body)));
            decoder.next();
            assertEquals("a", decoder.name());
            assertEquals("\u00fc", decoder.filename());
            assertEquals("a", decoder.head().name());
            assertEquals("\u00fc", decoder.head().filename());
            assertSame(decoder.head().filename(), decoder.filename(), "made once");
            assertSame(decoder.head().name(), decoder.name(), "made once");
        }
    }

    @Test
    void aDispositionThatCannotBeReadOutsideOfFormDataSaysNothing() throws MultipartException {
        Boundary mixed = Boundary.from("multipart/mixed; boundary=x");
        try (MultipartDecoder decoder = MultipartDecoder.create(mixed)) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes("--x\r\n"
                    + "Content-Disposition: attachment; name=a; filename=f; =\r\n\r\n\r\n"
                    + "--x\r\n"
                    + "Content-Disposition: attachment; name=a; filename=f\r\n\r\n\r\n"
                    + "--x\r\n"
                    + "Content-Disposition: attachment; filename*=UTF-8''%C3%BC\r\n\r\n\r\n"
                    + "--x\r\n\r\n\r\n"
                    + "--x--")));
            assertNames(decoder, null, null);
            assertNames(decoder, "a", "f");
            assertNames(decoder, null, "\u00fc");
            assertNames(decoder, null, null);
            assertEquals(List.of(), decoder.deviations());
        }
    }

    private static void assertNames(MultipartDecoder decoder, @Nullable String name, @Nullable String filename)
            throws MultipartException {
        assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
        assertEquals(name, decoder.name());
        assertEquals(filename, decoder.filename());
        assertEquals(name, decoder.head().name());
        assertEquals(filename, decoder.head().filename());
        assertEquals(MultipartDecoder.Event.PART_END, decoder.next());
    }

    @Test
    @Timeout(30)
    void hostileValuesAreReadInOneGo() throws MultipartException {
        int many = 1 << 20;
        assertEquals(
                "\"".repeat(many),
                Heads.of("form-data; name=\"" + "\\\"".repeat(many) + "\"").name());
        assertEquals("a", Heads.of("form-data; name=a" + ";x=y".repeat(many)).name());
        assertThrows(
                MultipartException.class, () -> Heads.of("form-data; name=" + "\"".repeat(many) + "x", COMPATIBLE));
        assertTrue(assertThrows(MultipartException.class, () -> Heads.of("form-data;" + " x".repeat(many), COMPATIBLE))
                        .getMessage()
                        .length()
                < 200);
    }
}
