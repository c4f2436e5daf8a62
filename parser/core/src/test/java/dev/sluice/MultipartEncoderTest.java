package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.PartHead.Header;
import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MultipartEncoderTest {
    private final CountingAllocator allocator = new CountingAllocator();

    @AfterEach
    void nothingIsOutstanding() {
        assertEquals(List.of(), allocator.unreleased());
    }

    private MultipartEncoder encoder(String mediaType) {
        return MultipartEncoder.create(Boundary.of("x", mediaType), NameEscaping.REJECT, allocator);
    }

    private MultipartEncoder form() {
        return encoder("multipart/form-data");
    }

    private static ByteBuf bytes(String latin1) {
        return Unpooled.wrappedBuffer(Decoding.bytes(latin1));
    }

    /** {@return the text of a buffer, which is released} */
    private static String text(ByteBuf bytes) {
        String text = bytes.toString(StandardCharsets.UTF_8);
        bytes.release();
        return text;
    }

    @Test
    void form_isWrittenInCanonicalFormat() throws IOException {
        MultipartEncoder encoder = form();
        String body = text(encoder.beginPart("title", null, null))
                + text(encoder.write(bytes("Sea")))
                + text(encoder.beginPart("empty", null, null))
                + text(encoder.beginPart("photo", "é.jpg", "image/jpeg"))
                + text(encoder.write(bytes("12")))
                + text(encoder.write(bytes("3")))
                + text(encoder.finish());
        assertEquals("""
                --x
                Content-Disposition: form-data; name="title"

                Sea
                --x
                Content-Disposition: form-data; name="empty"


                --x
                Content-Disposition: form-data; name="photo"; filename="é.jpg"
                Content-Type: image/jpeg

                123
                --x--
                """.replace("\n", "\r\n"), body);
        assertEquals("multipart/form-data; boundary=x", encoder.contentType());
    }

    @Test
    void emptyFileInput_isWrittenAsBrowsersDo_andHasNoContent() throws IOException {
        MultipartEncoder encoder = form();
        String input = text(encoder.emptyFileInput("photo"));
        assertEquals("""
                --x
                Content-Disposition: form-data; name="photo"; filename=""
                Content-Type: application/octet-stream

                """.replace("\n", "\r\n"), input);
        assertEquals(Unpooled.EMPTY_BUFFER, encoder.write(Unpooled.EMPTY_BUFFER));
        ByteBuf content = bytes("a");
        assertState("call beginPart() before write()", () -> encoder.write(content));
        assertEquals(0, content.refCnt());
        assertThrows(IllegalArgumentException.class, () -> encoder.emptyFileInput("a\r\nb"));
        assertThrows(IllegalArgumentException.class, () -> encoder.beginPart("a", "", null));
        String body = input
                + text(encoder.beginPart("a", null, null))
                + text(encoder.write(bytes("b")))
                + text(encoder.finish());
        Decoding.Result result = Decoding.decode(body, Preset.STRICT);
        assertEquals(List.of(), result.reasons());
        assertEquals(List.of(), result.deviations());
        assertEquals("", result.parts().get(0).filename());
        assertEquals("", result.parts().get(0).body());
        assertEquals("b", result.parts().get(1).body());
    }

    @Test
    void otherType_hasTheHeadersOfTheCaller() throws IOException {
        MultipartEncoder encoder = encoder("multipart/related");
        String body = text(encoder.beginPart(List.of(new Header("Content-ID", "<1>"), new Header("X", "é"))))
                + text(encoder.beginPart(List.of()))
                + text(encoder.finish());
        assertEquals("--x\r\nContent-ID: <1>\r\nX: é\r\n\r\n\r\n--x\r\n\r\n\r\n--x--\r\n", body);
        assertEquals("multipart/related; boundary=x", encoder.contentType());
    }

    @Test
    void formWithoutParts_isTheCloseDelimiter() throws IOException {
        assertEquals("--x--\r\n", text(form().finish()));
    }

    @Test
    void boundary_thatIsNoToken_isQuoted() {
        MultipartEncoder encoder = MultipartEncoder.create(Boundary.of("a b"), NameEscaping.REJECT, allocator);
        assertEquals("multipart/form-data; boundary=\"a b\"", encoder.contentType());
    }

    @Test
    void boundary_ofRequest_thatOtherParsersReadDifferently_isRejected() throws MultipartException {
        assertEquals(
                "multipart/form-data; boundary=boundary",
                MultipartEncoder.create(Boundary.of("boundary"), NameEscaping.REJECT, allocator)
                        .contentType());
        for (String value : List.of("a\\b", "*", "b".repeat(71))) {
            Boundary boundary = Boundary.formData("multipart/form-data; boundary=" + value, Preset.COMPATIBLE);
            assertThrows(
                    IllegalArgumentException.class,
                    () -> MultipartEncoder.create(boundary, NameEscaping.REJECT, allocator));
        }
    }

    @Test
    void boundary_random_isUsedByDefault() throws MultipartException {
        String type = MultipartEncoder.create().contentType();
        assertTrue(Boundary.formData(type, Preset.STRICT).value().matches("[t-w]{64}"));
        assertThrows(IllegalArgumentException.class, () -> Boundary.random("text/plain"));
        assertThrows(IllegalArgumentException.class, () -> Boundary.random("multipart/mixed; a=b"));
        assertThrows(IllegalArgumentException.class, () -> Boundary.of("x\"; a=\"", "multipart/mixed"));
    }

    @Test
    void boundary_random_isDifferentEachTime() {
        Set<String> values = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            assertTrue(values.add(Boundary.random("multipart/mixed").value()));
        }
        for (int i = 0; i < 63; i++) {
            int index = i;
            Stream<String> pairs = values.stream().map(value -> value.substring(index, index + 2));
            assertEquals(16, pairs.distinct().count(), "letters that do not depend on each other");
        }
    }

    @Test
    void content_isReturnedWithoutACopy() throws IOException {
        MultipartEncoder encoder = form();
        encoder.beginPart("a", null, null).release();
        ByteBuf content = bytes("abc").skipBytes(1);
        assertSame(content, encoder.write(content));
        assertEquals(1, content.refCnt());
        assertEquals("bc", text(content));
        assertEquals(Unpooled.EMPTY_BUFFER, encoder.write(Unpooled.EMPTY_BUFFER));
    }

    @Test
    void partWithoutName_messageContainsItsIndex() throws IOException {
        MultipartEncoder encoder = encoder("multipart/mixed");
        encoder.beginPart(List.of()).release();
        IOException failure = assertThrows(IOException.class, () -> encoder.write(bytes("--x")));
        assertEquals(
                "part 0 contains the boundary of the body: send the body with a new boundary", failure.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--x", "--xa", "a\r\n--x", "a\r\n--x--\r\n", "\r\r\n--x", "a\r--x", "a\n--x", "\n--x"})
    void content_containsDelimiter_throwsAtEverySplit(String content) throws IOException {
        for (int split = 0; split <= content.length(); split++) {
            MultipartEncoder encoder = form();
            encoder.beginPart("a\u202Eb", null, null).release();
            ByteBuf first = bytes(content.substring(0, split));
            ByteBuf second = bytes(content.substring(split));
            IOException failure = assertThrows(IOException.class, () -> {
                encoder.write(first).release();
                encoder.write(second).release();
            });
            String expected =
                    "part 0 \"a\\u{202E}b\" contains the boundary of the body: send the body with a new boundary";
            assertEquals(expected, failure.getMessage());
            assertEquals(0, Math.min(first.refCnt(), second.refCnt()), "neither buffer was released");
            ByteBuf third = bytes("c");
            assertSame(failure, assertThrows(IOException.class, () -> encoder.write(third)));
            assertEquals(0, third.refCnt());
            assertSame(failure, assertThrows(IOException.class, () -> encoder.beginPart("c", null, null)));
            assertSame(failure, assertThrows(IOException.class, encoder::finish));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a--x", "\r\n-", "\r\n--", "\r", "\n", "--", "\r\n-x\r\n", "- -x"})
    void content_thatOnlyResemblesADelimiter_isAcceptedAtEverySplit(String content) throws IOException {
        for (int split = 0; split <= content.length(); split++) {
            MultipartEncoder encoder = form();
            String body = text(encoder.beginPart("a", null, null))
                    + text(encoder.write(bytes(content.substring(0, split))))
                    + text(encoder.write(bytes(content.substring(split))))
                    + text(encoder.finish());
            Decoding.Result result = Decoding.decode(body, Preset.STRICT);
            assertEquals(List.of(), result.reasons());
            assertEquals(content, result.parts().get(0).body());
        }
    }

    @Test
    void delimiter_acrossParts_isAccepted() throws IOException {
        MultipartEncoder encoder = form();
        encoder.beginPart("a", null, null).release();
        encoder.write(bytes("\r\n--")).release();
        encoder.beginPart("b", null, null).release();
        encoder.write(bytes("x")).release();
        encoder.finish().release();
    }

    @Test
    void calls_inTheWrongOrder_areRejectedWithAdvice() throws IOException {
        MultipartEncoder encoder = form();
        ByteBuf early = bytes("a");
        assertState("call beginPart() before write()", () -> encoder.write(early));
        assertEquals(0, early.refCnt());
        assertState("pass the name of the part", () -> encoder.beginPart(List.of()));
        assertState(
                "pass the headers of the part", () -> encoder("multipart/mixed").beginPart("a", null, null));
        assertState(
                "pass the headers of the part", () -> encoder("multipart/mixed").emptyFileInput("a"));
        encoder.finish().release();
        assertState("create a new encoder for each body", encoder::finish);
        assertState("create a new encoder for each body", () -> encoder.beginPart("a", null, null));
        assertState("create a new encoder for each body", () -> encoder.write(bytes("a")));
    }

    private static void assertState(String advice, Executable call) {
        IllegalStateException e = assertThrows(IllegalStateException.class, call);
        assertTrue(e.getMessage().contains(advice), e.getMessage());
    }

    @Test
    void name_rejected_canBeReplacedByAnother() throws IOException {
        MultipartEncoder encoder = form();
        assertThrows(IllegalArgumentException.class, () -> encoder.beginPart("a\rb", null, null));
        String body = text(encoder.beginPart("ab", null, null)) + text(encoder.finish());
        assertEquals("ab", Decoding.decode(body, Preset.STRICT).parts().get(0).name());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text/plain",
                "text/plain; charset=utf-8",
                "text/plain;charset=\"UTF-8\"",
                "application/vnd.a+json; version=1",
                "text/plain; hostname=a",
                "text/plain; x-filename=a; names=b",
                "text/plain; a=\"; name=b\"",
                "text/plain; content-id=a"
            })
    void mediaType_isWrittenUnchanged(String type) throws IOException {
        MultipartEncoder encoder = form();
        String body = text(encoder.beginPart("a", null, type)) + text(encoder.finish());
        assertEquals(type, Decoding.decode(body, Preset.STRICT).parts().get(0).contentType());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "text",
                "/plain",
                "text/",
                "text/plain ",
                " text/plain",
                "text/pl\u00E4in",
                "text/plain/x",
                "text/plain\r\nX: y",
                "text/plain; a=b\r\nX: y",
                "text/plain; a=\"\0\"",
                "text/plain; ",
                "text/plain ; charset=utf-8",
                "text/plain; charset=utf-16",
                "text/plain; charset=unknown",
                "text/plain; charset=utf-8; charset=utf-8",
                "text/plain; name=a",
                "text/plain; Filename*=utf-8''a",
                "text/plain; a=\"; filename=b\"",
                "text/plain; charsetx=utf-16",
                "message/rfc822",
                "Message/partial; id=1",
                "multipart/mixed",
                "Multipart/mixed; boundary=y"
            })
    void mediaType_thatReadersMayMisread_isRejected(String type) {
        assertThrows(IllegalArgumentException.class, () -> form().beginPart("a", "f", type));
        assertThrows(IllegalArgumentException.class, () -> form().beginPart("a", null, type));
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/octet-stream", "Application/Octet-Stream; a=b"})
    void mediaType_ofABinaryFile_isRejectedForFields(String type) throws IOException {
        MultipartEncoder encoder = form();
        assertThrows(IllegalArgumentException.class, () -> encoder.beginPart("a", null, type));
        String body = text(encoder.beginPart("a", "f", type)) + text(encoder.finish());
        assertEquals(type, Decoding.decode(body, Preset.STRICT).parts().get(0).contentType());
    }

    @Test
    void headers_thatReadersMayMisread_areRejected() {
        MultipartEncoder encoder = encoder("multipart/mixed");
        for (Header header : List.of(
                new Header("", "a"),
                new Header("A:", "a"),
                new Header("A\r\nB", "a"),
                new Header("A", "a\r\nB: b"),
                new Header("A", "a\r\n\r\n\r\n--x--\r\n"),
                new Header("A", " a"),
                new Header("A", "a "),
                new Header("A", "a\0"),
                new Header("A", "\uD800"),
                new Header("content-length", "0"),
                new Header("Content-Transfer-Encoding", "base64"),
                new Header("A", "a".repeat(8200)))) {
            assertThrows(IllegalArgumentException.class, () -> encoder.beginPart(List.of(header)), header::toString);
        }
        Header type = new Header("Content-Type", "text/plain");
        assertThrows(IllegalArgumentException.class, () -> encoder.beginPart(List.of(type, type)));
    }

    @Test
    void header_thatBeginsLikeADelimiterOfTheBody_isRejected() throws IOException {
        Boundary boundary = Boundary.of("yz", "multipart/mixed");
        MultipartEncoder encoder = MultipartEncoder.create(boundary, NameEscaping.REJECT, allocator);
        assertThrows(IllegalArgumentException.class, () -> encoder.beginPart(List.of(new Header("--yza", "b"))));
        String body = text(encoder.beginPart(List.of(new Header("--x", "a")))) + text(encoder.finish());
        assertEquals("--yz\r\n--x: a\r\n\r\n\r\n--yz--\r\n", body);
    }
}
