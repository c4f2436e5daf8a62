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
    void rawOctetsHaveTheirEscapesUndoneAndAreCopies() throws MultipartException {
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
    void theOffsetCountsOctetsOfTheHeaderCharset() {
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
