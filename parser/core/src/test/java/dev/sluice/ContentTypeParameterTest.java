package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.sluice.header.TypeParameters;
import io.netty.buffer.Unpooled;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parameters of the Content-Type of a part. */
class ContentTypeParameterTest {
    @Test
    void charset_missing_isNull() {
        for (String type : new String[] {null, "text/plain", "text/plain; format=flowed"}) {
            assertNull(head(type).charset(), type);
            assertNull(head(type).contentTypeParameter("charset"), type);
            assertEquals(type == null ? null : "text/plain", head(type).mediaType());
        }
    }

    @Test
    void charset_unknown_isNull() {
        assertEquals(StandardCharsets.ISO_8859_1, charset("text/plain; charset=iso-8859-1"));
        assertNull(charset("text/plain; charset=klingon"));
        assertNull(charset("text/plain; charset=\"no name\""));
        assertNull(charset("text/plain; charset="));
    }

    private static @Nullable Charset charset(String contentType) {
        PartHead head = head(contentType);
        assertNotNull(head.contentTypeParameter("charset"), contentType);
        assertEquals("text/plain", head.mediaType());
        assertEquals(contentType, head.contentType());
        return head.charset();
    }

    private static PartHead head(@Nullable String contentType) {
        String lines = contentType == null ? "" : "Content-Type:" + contentType + "\r\n";
        String body = "--x\r\n" + lines + "\r\n";
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.anyMultipart("multipart/mixed; boundary=x"))) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(body)));
            assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
            return decoder.head();
        } catch (MultipartException e) {
            throw new AssertionError(contentType, e);
        }
    }

    @Test
    void header_isFoundInAnyCase() {
        assertEquals("a/b", head("a/b").header("CONTENT-type"));
        assertNull(head("a/b").header("u"));
    }

    @Test
    void mediaType_isInLowerCase() {
        assertEquals("text/html", head("Text/HTML ;charset=x").mediaType());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "text/plain;charset=x | x",
                ";charset=x | x",
                "text/plain ; CharSet=x ; y=z | x",
                "t/p; charset=a; charset=b | a",
                "t/p; a=\"b;charset=c\"; charset=\"d\" | d",
                "t/p; a=\"\\\";charset=c\"; charset=d | d",
                "t/p; a=\\;charset=d | d",
                "t/p; charset=\"\" | ``",
                "t/p; charset=\" | \"",
                "t/p; charset=\"a | \"a",
                "t/p; charset= | ``",
                "t/p; a; charset=\"x;y\" | x;y",
            })
    void parameter_isFoundAtEveryPosition(String contentType, String value) {
        assertEquals(value, TypeParameters.find(contentType, "charset"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"t/p", "t/p;", "t/p; charset", "t/p; xcharset=a", "t/p; a=\"; charset=b", "charset=a"})
    void parameter_missing_isNull(String contentType) {
        assertNull(TypeParameters.find(contentType, "charset"));
    }
}
