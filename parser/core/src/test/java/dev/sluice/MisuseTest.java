package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Incorrect use of the API: each exception says what to do. */
class MisuseTest {
    private static final String BODY = Verdict.headers(Verdict.A);

    private static MultipartDecoder decoder() {
        return MultipartDecoder.create(Boundary.of("x"));
    }

    private static ByteBuf body() {
        return Unpooled.wrappedBuffer(Decoding.bytes(BODY));
    }

    private static void assertState(String advice, Executable call) {
        IllegalStateException e = assertThrows(IllegalStateException.class, call);
        assertTrue(e.getMessage().contains(advice), e.getMessage());
    }

    @Test
    void feed_unreadInput_isRejectedAndChangesNothing() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            decoder.feed(body());
            assertState("call next() until NEED_INPUT", () -> decoder.feed(body()));
            assertEquals(Event.PART_BEGIN, decoder.next());
            assertState("call next() until NEED_INPUT", () -> decoder.feed(body()));
            assertState("call next() until NEED_INPUT", () -> decoder.feed(Unpooled.EMPTY_BUFFER));
            assertEquals(Event.DATA, decoder.next());
            assertEquals("v", decoder.data().toString(StandardCharsets.US_ASCII));
            assertState("call next() until NEED_INPUT", decoder::finish);
            assertEquals("v", decoder.data().toString(StandardCharsets.US_ASCII));
            assertEquals(Event.PART_END, decoder.next());
            assertEquals(Event.NEED_INPUT, decoder.next());
            decoder.finish();
            assertEquals(Event.END, decoder.next());
        }
    }

    @Test
    void feed_chunkWithReleasedComponent_isNotSkipped() {
        try (MultipartDecoder decoder = decoder()) {
            ByteBuf released = body();
            ByteBuf chunk = Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(new byte[] {'\r', '\n'}), released);
            released.release();
            assertThrows(IllegalReferenceCountException.class, () -> decoder.feed(chunk.retain()));
            assertThrows(IllegalReferenceCountException.class, decoder::next);
        }
    }

    @Test
    void feed_afterFinish_isRejected() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            decoder.feed(body());
            while (decoder.next() != Event.NEED_INPUT) {}
            decoder.finish();
            assertState("for each body", () -> decoder.feed(body()));
            assertEquals(Event.END, decoder.next());
            ByteBuf late = body();
            assertState("for each body", () -> decoder.feed(late));
            assertEquals(0, late.refCnt());
        }
    }

    @Test
    void finish_twice_isHarmless() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            decoder.feed(body());
            while (decoder.next() != Event.NEED_INPUT) {}
            decoder.finish();
            decoder.finish();
            assertEquals(Event.END, decoder.next());
            decoder.finish();
            assertEquals(Event.END, decoder.next());
        }
    }

    @Test
    void next_withoutInput_returnsNeedInputAgain() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            assertEquals(Event.NEED_INPUT, decoder.next());
            assertEquals(Event.NEED_INPUT, decoder.next());
            decoder.feed(Unpooled.EMPTY_BUFFER);
            assertEquals(Event.NEED_INPUT, decoder.next());
        }
    }

    @Test
    void decoder_closed_rejectsEveryCall() {
        MultipartDecoder decoder = decoder();
        decoder.close();
        assertState("for each body", () -> decoder.feed(body()));
        assertState("for each body", decoder::next);
        assertState("for each body", decoder::finish);
        assertThrows(IllegalStateException.class, decoder::data);
        assertThrows(IllegalStateException.class, decoder::head);
        decoder.close();
    }

    @Test
    void data_withoutDataEvent_isRejected() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            assertState("DATA event", decoder::data);
            decoder.feed(body());
            assertState("DATA event", decoder::data);
            decoder.next();
            assertState("DATA event", decoder::data);
            assertEquals(Event.DATA, decoder.next());
            assertSame(decoder.data(), decoder.data());
            assertEquals(Event.PART_END, decoder.next());
            assertState("DATA event", decoder::data);
        }
    }

    @Test
    void headers_outsideOfPart_areRejected() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            List<Executable> calls =
                    List.of(decoder::head, decoder::rawHeaders, decoder::name, decoder::filename, decoder::contentType);
            calls.forEach(call -> assertState("from PART_BEGIN until", call));
            decoder.feed(body());
            for (Event expected : List.of(Event.PART_BEGIN, Event.DATA, Event.PART_END)) {
                assertEquals(expected, decoder.next());
                assertEquals("a", decoder.name());
                assertEquals(1, decoder.head().headers().size());
                assertEquals(Verdict.A + "\r\n", decoder.rawHeaders().toString(StandardCharsets.US_ASCII));
            }
            assertEquals(Event.NEED_INPUT, decoder.next());
            calls.forEach(call -> assertState("from PART_BEGIN until", call));
        }
    }

    @Test
    void next_afterFailure_throwsItAgain() {
        try (MultipartDecoder decoder = decoder()) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes("--xy")));
            MultipartException first = assertThrows(MultipartException.class, decoder::next);
            assertEquals(Reason.MALFORMED_DELIMITER, first.reason());
            ByteBuf more = body();
            decoder.feed(more);
            assertEquals(0, more.refCnt());
            assertSame(first, assertThrows(MultipartException.class, decoder::next));
            decoder.finish();
            assertSame(first, assertThrows(MultipartException.class, decoder::next));
            assertEquals(3, decoder.offset());
        }
    }

    /** The failure of the release is suppressed. It does not replace the rejection. */
    @Test
    void next_rejectsBody_afterApplicationReleasedChunk_throwsRejection() throws MultipartException {
        MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"));
        decoder.feed(Unpooled.copiedBuffer(
                "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x!", StandardCharsets.US_ASCII));
        assertEquals(Event.PART_BEGIN, decoder.next());
        assertEquals(Event.DATA, decoder.next());
        decoder.data().release();
        MultipartException rejection = assertThrows(MultipartException.class, () -> {
            while (decoder.next() != Event.NEED_INPUT) {}
        });
        assertEquals(1, rejection.getSuppressed().length);
        assertSame(rejection, assertThrows(MultipartException.class, decoder::next));
        decoder.close();
    }

    @Test
    void reader_closed_rejectsEveryCall() throws IOException {
        MultipartReader reader =
                MultipartReader.create(new ByteArrayInputStream(Decoding.bytes(BODY)), Boundary.of("x"));
        MultipartReader.Part part = reader.nextPart();
        assertNotNull(part);
        InputStream stream = part.inputStream();
        reader.close();
        assertState("for each body", reader::nextPart);
        assertState("for each body", stream::read);
        assertState("for each body", part::text);
        assertState("for each body", part::inputStream);
        reader.close();
    }

    @Test
    void body_readTwice_isRejected() throws IOException {
        byte[] body = Decoding.bytes(BODY.replace("--x--", BODY));
        try (MultipartReader reader = MultipartReader.create(new ByteArrayInputStream(body), Boundary.of("x"))) {
            MultipartReader.Part first = reader.nextPart();
            assertNotNull(first);
            InputStream stream = first.inputStream();
            assertState("has been read before", first::inputStream);
            assertState("has been read before", first::text);
            assertThrows(IllegalStateException.class, first::nextData);
            assertState("has been read before", () -> first.transferTo(java.io.OutputStream.nullOutputStream()));
            MultipartReader.Part second = reader.nextPart();
            assertNotNull(second);
            assertState("before the next call to nextPart()", stream::read);
            assertState("before the next call to nextPart()", first::text);
            assertEquals("v", second.text());
            assertEquals("a", first.name());
        }
    }

    /** The bytes of a part that were decoded before the part ended cannot be read afterwards. */
    @Test
    void stream_ofEndedPart_withDecodedBytes_isRejected() throws IOException {
        String part = Verdict.headers(Verdict.A + "Content-Transfer-Encoding: base64\r\n")
                .replace("v\r\n", "YWJj\r\n");
        byte[] body = Decoding.bytes(part.replace("--x--\r\n", part));
        MultipartOptions options =
                MultipartOptions.builder().preset(Preset.COMPATIBLE).build();
        MultipartReader reader = MultipartReader.create(new ByteArrayInputStream(body), Boundary.of("x"), options);
        InputStream first = reader.nextPart().inputStream();
        assertEquals('a', first.read());
        InputStream second = reader.nextPart().inputStream();
        assertState("before the next call to nextPart()", first::read);
        assertEquals('a', second.read());
        reader.close();
        assertState("for each body", second::read);
    }

    @Test
    void text_ofEndedPart_reportsNoDeviation() throws IOException {
        String file = "Content-Disposition: form-data; name=a; filename=f\r\n";
        String unknown = Verdict.headers(file + "Content-Type: text/plain; charset=x-none\r\n");
        byte[] body = Decoding.bytes(unknown.replace("--x--\r\n", BODY));
        try (MultipartReader reader = MultipartReader.create(new ByteArrayInputStream(body), Boundary.of("x"))) {
            MultipartReader.Part first = reader.nextPart();
            assertNotNull(first);
            assertNotNull(reader.nextPart());
            assertThrows(IllegalStateException.class, first::text);
            assertEquals(List.of(), reader.deviations());
        }
    }

    @Test
    void headerCharset_notSupersetOfAscii_isRejected() {
        for (Charset charset : List.of(
                StandardCharsets.UTF_16,
                StandardCharsets.UTF_16LE,
                Charset.forName("UTF-32"),
                Charset.forName("IBM037"))) {
            IllegalArgumentException e = assertThrows(
                    IllegalArgumentException.class,
                    () -> MultipartOptions.builder().headerCharset(charset));
            assertTrue(e.getMessage().contains("use UTF-8"), e.getMessage());
        }
        assertEquals(
                StandardCharsets.ISO_8859_1,
                MultipartOptions.builder()
                        .headerCharset(StandardCharsets.ISO_8859_1)
                        .build()
                        .headerCharset());
    }

    @Test
    void rawHeader_indexOutOfRange_isRejected() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            decoder.feed(body());
            decoder.next();
            PartHead head = decoder.head();
            assertThrows(IndexOutOfBoundsException.class, () -> head.rawHeader(-1));
            assertThrows(IndexOutOfBoundsException.class, () -> head.rawHeader(1));
            assertThrows(IndexOutOfBoundsException.class, () -> head.rawHeader(2));
            assertThrows(
                    UnsupportedOperationException.class, () -> head.headers().clear());
        }
    }

    @Test
    void null_isRejectedAtOnce() {
        for (Executable call : List.<Executable>of(
                () -> MultipartDecoder.create((Boundary) null),
                () -> MultipartDecoder.create(Boundary.of("x"), null),
                () -> MultipartReader.create((InputStream) null, Boundary.of("x")),
                () -> MultipartReader.create((ReadableByteChannel) null, Boundary.of("x")),
                () -> MultipartDecoder.create(Boundary.of("x")).feed(null),
                () -> Boundary.of(null),
                () -> Boundary.anyMultipart("multipart/form-data; boundary=x", null),
                () -> MultipartOptions.builder().preset(null),
                () -> MultipartOptions.builder().headerCharset(null),
                () -> MultipartOptions.builder().allocator(null))) {
            assertThrows(NullPointerException.class, call);
        }
    }
}
