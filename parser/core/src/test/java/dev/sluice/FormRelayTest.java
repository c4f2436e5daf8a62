package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.FormRelay.Part;
import dev.sluice.FormRelay.Rule;
import dev.sluice.MultipartException.Reason;
import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FormRelayTest {
    private static final String FORM = "--x\r\n" + head("title") + "Sea\r\n--x\r\n" + head("secret") + "1\r\n--x\r\n"
            + "Content-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n123"
            + "\r\n--x--\r\n";

    private final CountingAllocator allocator = new CountingAllocator();

    private final MultipartOptions options =
            MultipartOptions.builder().allocator(allocator).build();

    @AfterEach
    void nothingIsOutstanding() {
        assertEquals(List.of(), allocator.unreleased());
    }

    private static String head(String name) {
        return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n";
    }

    private FormRelay relay(NameEscaping escaping, Rule rule) throws MultipartException {
        return FormRelay.create("multipart/form-data; boundary=x", options, escaping, rule);
    }

    private static Part part(String name, String content) {
        return new Part(name, null, null, Unpooled.wrappedBuffer(Decoding.bytes(content)));
    }

    /** {@return the parts that STRICT reads in the relayed form: name, file name, type and content} */
    private List<String> relayed(String form, int chunkSize, NameEscaping escaping, Rule rule, Part... added)
            throws IOException {
        ByteBuf sent = Unpooled.buffer();
        try (FormRelay relay = relay(escaping, rule)) {
            for (int from = 0; from < form.length(); from += chunkSize) {
                String chunk = form.substring(from, Math.min(form.length(), from + chunkSize));
                relay.feed(allocator.buffer().writeBytes(Decoding.bytes(chunk)));
                drain(relay, sent);
            }
            relay.finish(added);
            drain(relay, sent);
            Boundary boundary = Boundary.formData(relay.contentType(), Preset.STRICT);
            MultipartOptions strict =
                    MultipartOptions.builder().preset(Preset.STRICT).build();
            Decoding.Result result = Decoding.decode(boundary, strict, List.of(sent));
            assertEquals(List.of(), result.reasons());
            List<String> parts = new ArrayList<>();
            for (Decoding.Part part : result.parts()) {
                parts.add(part.name() + " " + part.filename() + " " + part.contentType() + " " + part.body());
            }
            return parts;
        }
    }

    private static void drain(FormRelay relay, ByteBuf sent) throws IOException {
        for (ByteBuf bytes; (bytes = relay.next()) != null; bytes.release()) {
            sent.writeBytes(bytes);
        }
    }

    @Test
    void rule_mayKeepDropChangeAndAddParts() throws IOException {
        Rule rule = head -> switch (String.valueOf(head.name())) {
            case "title" -> new Part("subject", null, "text/plain", null);
            case "secret" -> null;
            default -> Part.of(head);
        };
        for (int size = 1; size <= FORM.length(); size++) {
            assertEquals(
                    List.of("subject null text/plain Sea", "photo a.jpg image/jpeg 123", "by null null relay"),
                    relayed(FORM, size, NameEscaping.REJECT, rule, part("by", "relay")));
            assertEquals(
                    List.of("a null null b", "a null null b", "a null null b"),
                    relayed(FORM, size, NameEscaping.REJECT, head -> part("a", "b")));
        }
    }

    @Test
    void inputStream_returnsTheRelayedForm_orThrows() throws IOException {
        FormRelay relay = relay(NameEscaping.REJECT, head -> head.name().equals("secret") ? null : Part.of(head));
        InputStream client = new ByteArrayInputStream(Decoding.bytes(FORM)) {
            private boolean slow;

            @Override
            public int read(byte[] target, int offset, int length) {
                slow = !slow;
                return slow ? 0 : super.read(target, offset, length); // some streams return 0
            }
        };
        try (InputStream in = relay.inputStream(client);
                MultipartReader parts = MultipartReader.create(in, relay.contentType())) {
            assertEquals("title", parts.nextPart().name());
            assertEquals("photo", parts.nextPart().name());
            assertNull(parts.nextPart());
        }
        byte[] truncated = Decoding.bytes(FORM.substring(0, FORM.length() - 6));
        try (InputStream in = relay(NameEscaping.REJECT, Part::of).inputStream(new ByteArrayInputStream(truncated))) {
            MultipartException e = assertThrows(MultipartException.class, in::readAllBytes);
            assertEquals(Reason.TRUNCATED, e.reason());
            assertSame(e, assertThrows(MultipartException.class, in::read));
        }
    }

    @Test
    void nameOfTheClient_thatCanBeMisread_isReplacedOrRejected() throws IOException {
        String form = "--x\r\n" + head("a;b") + "1\r\n--x--\r\n";
        assertEquals(List.of("a_b null null 1"), relayed(form, 10, NameEscaping.REPLACE, Part::of));
        MultipartException e =
                assertThrows(MultipartException.class, () -> relayed(form, 1000, NameEscaping.REJECT, Part::of));
        assertEquals(Reason.MALFORMED_HEADER, e.reason());
        assertEquals(0, e.partIndex());
    }

    private static String file(String headers, String content) {
        return "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"\"\r\n" + headers + "\r\n" + content;
    }

    @Test
    void fileInputThatWasLeftEmpty_isWrittenAsBrowsersDo() throws IOException {
        String browser = file("Content-Type: application/octet-stream\r\n", "");
        String form = browser + "\r\n" + file("", "") + "\r\n--x--\r\n";
        String expected = "a  application/octet-stream ";
        for (NameEscaping escaping : NameEscaping.values()) {
            for (int size = 1; size <= form.length(); size++) {
                assertEquals(List.of(expected, expected), relayed(form, size, escaping, Part::of));
            }
        }
        Part unused = new Part("a", "", null, Unpooled.EMPTY_BUFFER);
        assertEquals(
                List.of(expected, expected, expected),
                relayed(form, 1000, NameEscaping.REJECT, head -> unused, unused));
    }

    @Test
    void emptyFileName_withContent_isReplacedOrRejected() throws IOException {
        String form = file("", "1") + "\r\n--x--\r\n";
        assertEquals(List.of("a _ null 1"), relayed(form, 1, NameEscaping.REPLACE, Part::of));
        MultipartException e =
                assertThrows(MultipartException.class, () -> relayed(form, 1000, NameEscaping.BROWSER, Part::of));
        assertEquals(Reason.MALFORMED_HEADER, e.reason());
        assertThrows(
                IllegalArgumentException.class,
                () -> relayed(form, 1000, NameEscaping.REJECT, head -> new Part("b", "", null, null)));
    }

    @Test
    void emptyContent_producesNoEmptyChunk() throws IOException {
        try (FormRelay relay = relay(NameEscaping.REJECT, head -> new Part("a", null, null, Unpooled.EMPTY_BUFFER))) {
            relay.feed(allocator.buffer().writeBytes(Decoding.bytes(FORM)));
            for (ByteBuf bytes; (bytes = relay.next()) != null; bytes.release()) {
                assertTrue(bytes.isReadable());
            }
        }
    }

    private static String encoded(String encoding, String content) {
        return "--x\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: " + encoding
                + "\r\n\r\n" + content + "\r\n--x--\r\n";
    }

    @Test
    void encodedContent_isDecodedUnlessItIsReplaced() throws IOException {
        String base64 = encoded("base64", "c2x1aWNlYg==");
        for (int size = 1; size <= base64.length(); size++) {
            assertEquals(List.of("a null null sluiceb"), relayed(base64, size, NameEscaping.REJECT, Part::of));
        }
        for (int size = 1; size <= 5; size++) {
            String quoted = encoded("Quoted-Printable", "a=3Db ");
            assertEquals(List.of("a null null a=b "), relayed(quoted, size, NameEscaping.REJECT, Part::of));
        }
        String unknown = encoded("x-uuencode", "a=3Db");
        assertEquals(List.of("a null null a=3Db"), relayed(unknown, 1000, NameEscaping.REJECT, Part::of));
        assertEquals(List.of("a null null b"), relayed(base64, 1000, NameEscaping.REJECT, head -> part("a", "b")));
        assertEquals(List.of(), relayed(base64, 1000, NameEscaping.REJECT, head -> null));
        for (String malformed : List.of("c2x1a!!", "c2x1a", "c2x1=")) {
            MultipartException e = assertThrows(
                    MultipartException.class,
                    () -> relayed(encoded("base64", malformed), 1000, NameEscaping.REJECT, Part::of));
            assertEquals(Reason.MALFORMED_TRANSFER_ENCODING, e.reason());
            assertEquals(0, e.partIndex());
        }
    }

    @Test
    void mediaTypeOfTheClient_thatTheEncoderRejects_isReplaced() throws IOException {
        String form =
                "--x\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\n1"
                        + "\r\n--x\r\nContent-Disposition: form-data; name=\"b\"; filename=\"c\"\r\nContent-Type: image\r\n\r\n2"
                        + "\r\n--x\r\nContent-Disposition: form-data; name=\"d\"; filename=\"e\"\r\n"
                        + "Content-Type: image/png; name=\"f\"\r\n\r\n3\r\n--x\r\n"
                        + "Content-Disposition: form-data; name=\"g\"\r\n"
                        + "Content-Type: text/plain ; charset=iso-8859-1; name=h\r\n\r\n4\r\n--x\r\n"
                        + "Content-Disposition: form-data; name=\"i\"\r\n"
                        + "Content-Type: application/octet-stream\r\n\r\n5\r\n--x\r\n"
                        + "Content-Disposition: form-data; name=\"j\"\r\n"
                        + "Content-Type: text/plain; charset=\"utf-8; k=l\"\r\n\r\n6\r\n--x--\r\n";
        for (NameEscaping escaping : NameEscaping.values()) {
            assertEquals(
                    List.of(
                            "a null null 1",
                            "b c application/octet-stream 2",
                            "d e image/png 3",
                            "g null text/plain; charset=iso-8859-1 4",
                            "i null null 5",
                            "j null null 6"),
                    relayed(form, 1000, escaping, Part::of));
        }
        assertEquals(
                List.of(
                        "d null null 1",
                        "d null null 2",
                        "d null image/png 3",
                        "d null text/plain; charset=iso-8859-1 4",
                        "d null null 5",
                        "d null null 6"),
                relayed(form, 1000, NameEscaping.REPLACE, head -> new Part("d", null, head.contentType(), null)));
    }

    @Test
    void mediaTypeOfTheClient_thatThePresetRejects_isNotRelayed() throws IOException {
        MultipartOptions strict = MultipartOptions.builder()
                .allocator(allocator)
                .preset(Preset.STRICT)
                .build();
        String form =
                "--x\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: text/plain; name=b\r\n\r\n1\r\n--x--\r\n";
        for (NameEscaping escaping : NameEscaping.values()) {
            try (FormRelay relay = FormRelay.create("multipart/form-data; boundary=x", strict, escaping, Part::of)) {
                relay.feed(allocator.buffer().writeBytes(Decoding.bytes(form)));
                MultipartException e = assertThrows(MultipartException.class, relay::next);
                assertEquals(Reason.MALFORMED_HEADER, e.reason());
                assertEquals(form.indexOf("text/plain"), e.offset());
                assertEquals(0, e.partIndex());
            }
        }
    }

    @Test
    void mediaTypeOfTheApplication_isNeverReplaced() throws IOException {
        assertEquals(
                List.of("a null text/html Sea", "a null text/html 1", "a null text/html 123"),
                relayed(FORM, 1000, NameEscaping.REPLACE, head -> new Part("a", null, "text/html", null)));
        assertEquals(
                List.of("title null null Sea", "secret null null 1", "photo a.jpg image/jpeg 123", "a null a/b "),
                relayed(FORM, 1000, NameEscaping.REPLACE, Part::of, new Part("a", null, "a/b", Unpooled.EMPTY_BUFFER)));
        assertThrows(
                IllegalArgumentException.class,
                () -> relayed(FORM, 1000, NameEscaping.REPLACE, head -> new Part("a", null, "image", null)));
        assertThrows(
                IllegalArgumentException.class,
                () -> relayed(
                        FORM,
                        1000,
                        NameEscaping.REPLACE,
                        Part::of,
                        new Part("a", null, "image", Unpooled.EMPTY_BUFFER)));
    }

    @Test
    void tooLongNameOfTheClient_rejectsTheForm() throws IOException {
        String form = "--x\r\nContent-Disposition: form-data; name=\"" + "a".repeat(9000)
                + "\"\r\nContent-Type: image\r\n\r\n\r\n--x--\r\n";
        MultipartOptions large = MultipartOptions.builder()
                .allocator(allocator)
                .maxHeaderBytesPerPart(20_000)
                .build();
        for (NameEscaping escaping : NameEscaping.values()) {
            try (FormRelay relay = FormRelay.create("multipart/form-data; boundary=x", large, escaping, Part::of)) {
                relay.feed(allocator.buffer().writeBytes(Decoding.bytes(form)));
                MultipartException e = assertThrows(MultipartException.class, relay::next);
                assertEquals(Reason.MALFORMED_HEADER, e.reason());
            }
        }
    }

    @Test
    void malformedFormOrType_isRejected() throws IOException {
        for (int end = 0; end < FORM.length() - 2; end++) {
            String truncated = FORM.substring(0, end);
            assertThrows(MultipartException.class, () -> relayed(truncated, 7, NameEscaping.REJECT, Part::of));
        }
        assertThrows(
                MultipartException.class, () -> FormRelay.create("text/plain", options, NameEscaping.REJECT, Part::of));
    }

    @Test
    void rule_throwing_closesTheRelay() throws IOException {
        IOException rejected = new IOException("not a photo");
        ByteBuf content = allocator.buffer().writeByte('a');
        try (FormRelay relay = relay(NameEscaping.REJECT, head -> {
            throw rejected;
        })) {
            relay.feed(allocator.buffer().writeBytes(Decoding.bytes(FORM)));
            assertSame(rejected, assertThrows(IOException.class, relay::next));
            assertThrows(IllegalStateException.class, relay::next);
        }
        try (FormRelay relay = relay(NameEscaping.REJECT, head -> new Part("a\r\n", null, null, content))) {
            relay.feed(allocator.buffer().writeBytes(Decoding.bytes(FORM)));
            assertThrows(IllegalArgumentException.class, relay::next);
            assertEquals(0, content.refCnt());
        }
    }

    @Test
    void addedParts_withoutContent_orAfterTheEnd_areRejectedAndReleased() throws IOException {
        try (FormRelay relay = relay(NameEscaping.REJECT, Part::of)) {
            Part complete = new Part("a", null, null, allocator.buffer().writeByte('a'));
            Part incomplete = new Part("b", null, null, null);
            IllegalArgumentException e =
                    assertThrows(IllegalArgumentException.class, () -> relay.finish(complete, incomplete));
            assertEquals("an added part has no content: pass a buffer, which may be empty", e.getMessage());
            assertEquals(0, complete.content().refCnt());
            Part other = new Part("a", null, null, allocator.buffer().writeByte('a'));
            assertThrows(IllegalArgumentException.class, () -> relay.finish(null, other));
            assertEquals(0, other.content().refCnt());
            relay.finish();
            Part late = new Part("a", null, null, allocator.buffer().writeByte('a'));
            assertThrows(IllegalStateException.class, () -> relay.finish(late));
            assertEquals(0, late.content().refCnt());
        }
    }

    @Test
    void close_releasesReplacementsAndAddedParts() throws IOException {
        ByteBuf replaced = allocator.buffer().writeByte('a');
        FormRelay relay = relay(NameEscaping.REJECT, head -> new Part("a", null, null, replaced));
        relay.feed(allocator.buffer().writeBytes(Decoding.bytes(FORM)));
        relay.next().release();
        relay.close();
        relay.close();
        assertEquals(0, replaced.refCnt());
        FormRelay empty = relay(NameEscaping.REJECT, Part::of);
        empty.feed(allocator.buffer().writeBytes(Decoding.bytes("--x--\r\n")));
        assertTrue(empty.next() == null);
        ByteBuf added = allocator.buffer().writeByte('a');
        empty.finish(new Part("a", null, null, added));
        empty.close();
        empty.close();
        assertEquals(0, added.refCnt());
    }
}
