package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader.Part;
import dev.sluice.testkit.OneByteStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MultipartReaderTest {
    private static final Boundary X = Boundary.of("x");
    private static final String PART = "--x\r\n" + Verdict.A + "\r\n";
    private static final String FILE = "--x\r\n"
            + "Content-Disposition: form-data; name=\"f\"; filename=\"../f.txt\"\r\n"
            + "Content-Type: text/plain\r\n\r\n";
    private static final String BODY = PART + "one\r\n" + FILE + "a\r\n-\r\n--y\r\n" + PART + "\r\n--x--\r\n";

    private static final MultipartOptions COMPATIBLE =
            MultipartOptions.builder().preset(Preset.COMPATIBLE).build();

    /** The header field of base64 content, and the end of the header section. */
    private static final String BASE64 = "\r\nContent-Transfer-Encoding: base64\r\n\r\n";

    private static InputStream stream(String body) {
        return new ByteArrayInputStream(Decoding.bytes(body));
    }

    private static Part next(MultipartReader reader) throws IOException {
        return Objects.requireNonNull(reader.nextPart(), "there is no further part");
    }

    /** {@return the text of the only part of a form with these header lines and this content} */
    private static String text(String headerLines, String body, MultipartOptions options) throws IOException {
        String form = "--x\r\n" + Verdict.A + headerLines + "\r\n" + body + "\r\n--x--";
        try (MultipartReader reader = MultipartReader.create(stream(form), X, options)) {
            return next(reader).text();
        }
    }

    // ---- sources

    @Test
    void nonBlockingSource_isRejected() {
        try (MultipartReader reader = MultipartReader.create(new StuckChannel(), X)) {
            assertThrows(IllegalBlockingModeException.class, reader::nextPart);
        }
    }

    @Test
    void nextData_retained_remainsValid() throws IOException {
        String large = "0123456789".repeat(10_000);
        List<ByteBuf> kept = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        try (MultipartReader reader = MultipartReader.create(stream(PART + large + "\r\n--x--"), X)) {
            Part part = next(reader);
            for (ByteBuf data; (data = part.nextData()) != null; ) {
                kept.add(data.retain());
            }
            assertThrows(IllegalStateException.class, part::text);
            assertNull(reader.nextPart());
        }
        for (ByteBuf data : kept) {
            text.append(data.toString(StandardCharsets.ISO_8859_1));
            data.release();
            assertEquals(0, data.refCnt());
        }
        assertTrue(large.contentEquals(text), "retained data has changed");
    }

    @Test
    void malformedBase64_failsAgainAndNextPartIsReadable() throws IOException {
        String encoded = Verdict.A + "Content-Transfer-Encoding: base64\r\n\r\nQUJD=QUJD\r\n";
        String form = "--x\r\n" + encoded + "--x\r\n" + Verdict.A + "\r\nnext\r\n--x--";
        try (MultipartReader reader = MultipartReader.create(stream(form), X, COMPATIBLE)) {
            InputStream in = next(reader).inputStream();
            MultipartException e = assertThrows(MultipartException.class, () -> in.skip(100));
            assertEquals(Reason.MALFORMED_TRANSFER_ENCODING, e.reason());
            assertThrows(MultipartException.class, in::readAllBytes);
            assertThrows(MultipartException.class, in::read);
            assertEquals(0, in.available());
            in.close();
            assertEquals("next", next(reader).text());
        }
    }

    @Test
    void available_countsDecodedBytes() throws IOException {
        String form = PART.replace("\r\n\r\n", BASE64) + "QUJD\r\n--x--";
        try (MultipartReader reader = MultipartReader.create(stream(form), X, COMPATIBLE)) {
            InputStream in = next(reader).inputStream();
            assertEquals(0, in.read(new byte[4], 1, 0));
            assertEquals('A', in.read());
            assertEquals(2, in.available());
            in.close();
            assertEquals(0, in.available(), "decoded bytes in a closed stream");
        }
    }

    @Test
    void paddedBase64_inTruncatedPart_isTruncated() throws IOException {
        String form = PART.replace("\r\n\r\n", BASE64) + "QQ==";
        for (boolean byText : new boolean[] {true, false}) {
            try (MultipartReader reader = MultipartReader.create(stream(form), X, COMPATIBLE)) {
                Part part = next(reader);
                MultipartException e = assertThrows(
                        MultipartException.class,
                        () -> assertNull(
                                byText ? part.text() : part.inputStream().readAllBytes()));
                assertEquals(Reason.TRUNCATED, e.reason());
                assertEquals(form.length(), e.offset());
            }
        }
    }

    @Test
    void source_isReadToEndAndNotClosed() throws IOException {
        boolean[] closed = new boolean[1];
        InputStream in = new ByteArrayInputStream(Decoding.bytes(BODY + "epilogue")) {
            @Override
            public void close() {
                closed[0] = true;
            }
        };
        try (MultipartReader reader = MultipartReader.create(in, X)) {
            while (reader.nextPart() != null) {}
            assertEquals(-1, in.read());
            assertEquals(List.of(new ReportedDeviation(Deviation.EPILOGUE, -1, BODY.length())), reader.deviations());
        }
        MultipartReader.create(Channels.newChannel(in), X).close();
        assertFalse(closed[0]);
    }

    @Test
    void source_isReadOnDemandOnly() throws IOException {
        InputStream in = stream(BODY);
        try (MultipartReader reader = MultipartReader.create(in, X)) {
            assertEquals(BODY.length(), in.available());
            assertNotNull(reader.nextPart());
            assertTrue(in.available() < BODY.length());
        }
    }

    /** If other multipart types were accepted, a client could choose a type whose parts need no names. */
    @Test
    void otherMultipartType_requiresExplicitBoundary() throws IOException {
        String file = "--x\r\nContent-Disposition: attachment; filename=\"evil.jsp\"\r\n\r\n1\r\n--x--";
        String mixed = "multipart/mixed; boundary=x";
        for (Preset preset : List.of(Preset.STRICT, Preset.STANDARD, Preset.COMPATIBLE)) {
            MultipartOptions options = MultipartOptions.builder().preset(preset).build();
            MultipartException rejected =
                    assertThrows(MultipartException.class, () -> MultipartReader.create(stream(file), mixed, options));
            assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, rejected.reason());
            try (MultipartReader reader = MultipartReader.create(stream(file), Boundary.anyMultipart(mixed), options)) {
                assertNull(next(reader).name());
            }
        }
        String none = null;
        assertThrows(MultipartException.class, () -> MultipartReader.create(stream(file), mixed));
        assertThrows(MultipartException.class, () -> MultipartReader.create(stream(file), none));
        try (MultipartReader reader = MultipartReader.create(stream(BODY), "multipart/form-data; boundary=x")) {
            assertEquals("one", next(reader).text());
        }
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        assertThrows(
                MultipartException.class,
                () -> MultipartReader.create(stream(BODY), "multipart/form-data; boundary=*****", strict));
    }

    // ---- parts

    @Test
    void restOfPart_isSkipped() throws IOException {
        try (MultipartReader reader = MultipartReader.create(new OneByteStream(Decoding.bytes(BODY)), X)) {
            next(reader);
            Part second = next(reader);
            assertEquals('a', second.inputStream().read());
            assertEquals(2, next(reader).index());
            assertNull(reader.nextPart());
        }
    }

    @Test
    void head_outlivesReader() throws IOException {
        PartHead head;
        try (MultipartReader reader = MultipartReader.create(stream(BODY), X)) {
            next(reader);
            head = next(reader).head();
        }
        assertEquals("text/plain", head.contentType());
        assertEquals(List.of("text/plain"), head.headers("CONTENT-TYPE"));
        assertEquals("../f.txt", head.filename());
        assertFalse(head.toString().contains("f.txt"), "toString() shows input of the client");
    }

    @Test
    void head_isReadableUntilNextPart_unlessCreatedBefore() throws IOException {
        try (MultipartReader reader = MultipartReader.create(stream(BODY), X)) {
            Part first = next(reader);
            assertNull(first.safeFilename());
            Part second = next(reader);
            assertThrows(IllegalStateException.class, first::head);
            assertThrows(IllegalStateException.class, first::contentType);
            assertEquals(1, second.index());
            assertEquals("../f.txt", second.filename());
            assertEquals("f.txt", second.safeFilename());
            second.text();
            assertEquals("text/plain", second.contentType());
            assertSame(second.head(), second.head());
            next(reader);
            assertEquals(2, second.head().headers().size(), "headers of a head that was created before the next part");
            assertEquals("text/plain", second.contentType());
        }
    }

    @Test
    void inputStream_followsContract() throws IOException {
        try (MultipartReader reader = MultipartReader.create(stream(PART + "\u00ff23456\r\n--x--"), X)) {
            InputStream in = next(reader).inputStream();
            byte[] target = new byte[4];
            assertEquals(0, in.read(target, 0, 0));
            assertEquals(0xFF, in.read(), "a byte above 0x7F");
            assertTrue(in.available() > 0 && in.available() <= 5);
            assertEquals(2, in.read(target, 1, 2));
            assertArrayEquals(new byte[] {0, '2', '3', 0}, target);
            assertThrows(IndexOutOfBoundsException.class, () -> in.read(target, 3, 2));
            assertEquals(1, in.skip(1));
            assertArrayEquals(Decoding.bytes("56"), in.readAllBytes());
            assertEquals(-1, in.read());
            assertEquals(-1, in.read(target));
            assertEquals(0, in.available());
        }
    }

    @Test
    void closedStream_cannotBeRead() throws IOException {
        for (String encoding : List.of("8bit", "base64", "quoted-printable")) {
            String body = "--x\r\n" + Verdict.A + "Content-Transfer-Encoding: " + encoding + "\r\n\r\nYWJj\r\n" + PART
                    + "w\r\n--x--";
            try (MultipartReader reader = MultipartReader.create(stream(body), X, COMPATIBLE)) {
                InputStream in = next(reader).inputStream();
                in.close();
                IOException closed = assertThrows(IOException.class, in::read, encoding);
                assertFalse(
                        closed instanceof MultipartException, "a closed stream is reported as an error of the client");
                in.close();
                assertEquals("w", next(reader).text());
            }
        }
    }

    @Test
    void body_readInAnyWay_isComplete() throws IOException {
        String data = "d\u00ff".repeat(150_000) + "\r\n--y";
        String mime = Base64.getMimeEncoder().encodeToString(Decoding.bytes(data));
        for (String part : List.of(PART + data + "\r\n", PART.replace("\r\n\r\n", BASE64) + mime + "\r\n")) {
            String body = part.repeat(3) + "--x--";
            for (MultipartReader reader : List.of(
                    MultipartReader.create(stream(body), X, COMPATIBLE),
                    MultipartReader.create(Channels.newChannel(stream(body)), X, COMPATIBLE))) {
                try (reader) {
                    assertArrayEquals(
                            Decoding.bytes(data), next(reader).inputStream().readAllBytes());
                    ByteArrayOutputStream out = new ByteArrayOutputStream();
                    assertEquals(data.length(), next(reader).transferTo(out));
                    assertEquals(data, out.toString(StandardCharsets.ISO_8859_1));
                    SlowChannel channel = new SlowChannel();
                    assertEquals(data.length(), next(reader).transferTo(channel));
                    assertEquals(data, channel.written.toString(StandardCharsets.ISO_8859_1));
                }
            }
        }
    }

    /** A channel that accepts at most 1000 bytes at a time. */
    private static final class SlowChannel implements WritableByteChannel {
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();

        @Override
        public int write(ByteBuffer bytes) {
            byte[] some = new byte[Math.min(1000, bytes.remaining())];
            bytes.get(some);
            written.writeBytes(some);
            return some.length;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    @Test
    void transferTo_nonBlockingOrStuckChannel_fails() throws IOException {
        String encoded = PART.replace("\r\n\r\n", BASE64) + "b25l\r\n";
        for (String part : List.of(PART + "one\r\n", encoded)) {
            Pipe pipe = Pipe.open();
            try (MultipartReader reader = MultipartReader.create(stream(part.repeat(3) + "--x--"), X, COMPATIBLE);
                    Pipe.SourceChannel source = pipe.source();
                    Pipe.SinkChannel sink = pipe.sink()) {
                sink.configureBlocking(false);
                Part first = next(reader);
                assertThrows(IllegalBlockingModeException.class, () -> first.transferTo(sink));
                assertEquals("one", first.text(), "the failed transfer has read data");
                sink.configureBlocking(true);
                assertEquals(3, next(reader).transferTo(sink));
                assertEquals(3, source.read(ByteBuffer.allocate(9)));
                Part last = next(reader);
                IOException stuck = assertThrows(IOException.class, () -> last.transferTo(new StuckChannel()));
                assertEquals("the channel accepts no bytes", stuck.getMessage());
                assertNull(reader.nextPart());
            }
        }
    }

    @Test
    void transferTo_targetFails_nextPartIsReadable() throws IOException {
        IOException full = new IOException("disk full");
        try (MultipartReader reader = MultipartReader.create(stream(BODY), X)) {
            Part first = next(reader);
            assertSame(
                    full,
                    assertThrows(
                            IOException.class,
                            () -> first.transferTo(new ByteArrayOutputStream() {
                                @Override
                                public void write(byte[] bytes, int index, int length) {
                                    throw Throwing.<RuntimeException>unchecked(full);
                                }
                            })));
            assertEquals("a\r\n-\r\n--y", next(reader).text());
        }
    }

    // ---- text

    @Test
    void text_usesCharsetOfPartOrUtf8() throws IOException {
        MultipartOptions defaults = MultipartOptions.defaults();
        assertEquals("\u00fc", text("", "\u00c3\u00bc", defaults));
        assertEquals("\u00fc", text("Content-Type: text/plain\r\n", "\u00c3\u00bc", defaults));
        assertEquals("\u00fc", text("Content-Type: text/plain; charset=ISO-8859-1\r\n", "\u00fc", defaults));
        assertEquals("\u20ac", text("Content-Type: text/plain; charset=windows-1252\r\n", "\u0080", defaults));
        assertEquals(
                "\u8868",
                text(
                        "Content-Type: text/plain; charset=Shift_JIS\r\n",
                        new String("\u8868".getBytes(Charset.forName("Shift_JIS")), StandardCharsets.ISO_8859_1),
                        defaults));
        assertEquals("\uFFFD", text("", "\u00ff", defaults));
        assertEquals("", text("", "", defaults));
        assertEquals("a\r\nb", text("", "a\r\nb", defaults));
    }

    @Test
    void text_splitWithinCharacter_isComplete() throws IOException {
        String text = "\u4e2d\ud83d\ude00\u00fc".repeat(500);
        byte[] body = Decoding.bytes(PART + Verdict.utf8(text) + "\r\n--x--");
        try (MultipartReader reader = MultipartReader.create(new OneByteStream(body), X)) {
            assertEquals(text, next(reader).text());
        }
    }

    @Test
    void unknownCharset_ofField_isReportedAtHeader() throws IOException {
        for (String charset : List.of("x-none", "\"\"", "!!", "", "\"utf-8")) {
            assertUnknownCharset(Verdict.A, charset, "text/plain");
        }
    }

    @Test
    void unknownCharset_ofFile_isReportedWhenReadAsText() throws IOException {
        assertUnknownCharset("Content-Disposition: form-data; name=a; filename=f\r\n", "x-none", "\u00c3\u00bc\r\n");
    }

    /** Checks that the text is read as UTF-8, and that the deviation is reported at the offset of {@code reportedAt} in the form. */
    private static void assertUnknownCharset(String disposition, String charset, String reportedAt) throws IOException {
        String form = "--x\r\n" + disposition + "Content-Type: text/plain; charset=" + charset
                + "\r\n\r\n\u00c3\u00bc\r\n--x--";
        for (Preset preset : List.of(Preset.STANDARD, Preset.COMPATIBLE)) {
            MultipartOptions options = MultipartOptions.builder().preset(preset).build();
            try (MultipartReader reader = MultipartReader.create(stream(form), X, options)) {
                assertEquals("\u00fc", next(reader).text());
                assertEquals(
                        List.of(new ReportedDeviation(Deviation.UNKNOWN_CHARSET, 0, form.indexOf(reportedAt))),
                        reader.deviations());
            }
        }
    }

    @Test
    void unknownCharset_inStrict_isRejected() throws IOException {
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        String type = "Content-Type: text/plain; charset=utf-7\r\n\r\nv\r\n--x--";
        try (MultipartReader reader = MultipartReader.create(stream("--x\r\n" + Verdict.A + type), X, strict)) {
            assertUnknownCharset(assertThrows(MultipartException.class, reader::nextPart));
        }
        String file = "--x\r\nContent-Disposition: form-data; name=a; filename=f\r\n";
        try (MultipartReader reader = MultipartReader.create(stream(file + type), X, strict)) {
            assertUnknownCharset(assertThrows(MultipartException.class, next(reader)::text));
        }
    }

    private static void assertUnknownCharset(MultipartException e) {
        assertEquals(Reason.UNKNOWN_CHARSET, e.reason());
        assertEquals(415, e.httpStatus());
        assertEquals(0, e.partIndex());
    }

    @Test
    void textTooLarge_nextPartIsReadable() throws IOException {
        MultipartOptions options = MultipartOptions.builder().maxFieldBytes(2).build();
        try (MultipartReader reader = MultipartReader.create(stream(BODY), X, options)) {
            assertEquals(
                    Reason.FIELD_TOO_LARGE,
                    assertThrows(MultipartException.class, next(reader)::text).reason());
            assertEquals(
                    "a\r\n-\r\n--y", new String(next(reader).inputStream().readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /** The size of a decoded text does not determine where its encoded form exceeds the limit. */
    @Test
    void textTooLarge_isReportedAtLimitOrStartOfEncodedBody() throws IOException {
        MultipartOptions options = MultipartOptions.builder()
                .preset(COMPATIBLE.preset())
                .maxFieldBytes(4)
                .build();
        for (String encoding : List.of("8bit", "base64")) {
            String form =
                    "--x\r\n" + Verdict.A + "Content-Transfer-Encoding: " + encoding + "\r\n\r\nQUJDREVGR0g=\r\n--x--";
            try (MultipartReader reader = MultipartReader.create(stream(form), X, options)) {
                MultipartException e = assertThrows(MultipartException.class, next(reader)::text);
                assertEquals(Reason.FIELD_TOO_LARGE, e.reason());
                assertEquals(form.indexOf("QUJD") + (encoding.equals("8bit") ? 4 : 0), e.offset());
            }
        }
    }

    // ---- transfer encodings

    @Test
    void quotedPrintable_isDecodedByCompatible() throws IOException {
        String header = "Content-Transfer-Encoding: Quoted-Printable\r\n";
        assertEquals("\u00fc=a b", text(header, "=C3=BC=3Da b", COMPATIBLE));
        assertEquals("\u00fc", text(header, "=c3=bc", COMPATIBLE));
        assertEquals("ab", text(header, "a=\r\nb", COMPATIBLE));
        assertEquals("ab", text(header, "a=\nb", COMPATIBLE));
        assertEquals("a\r\nb", text(header, "a\r\nb", COMPATIBLE));
        assertEquals("a=", text(header, "a=", COMPATIBLE));
        assertEquals("=4", text(header, "=4", COMPATIBLE));
        assertEquals("=zz=", text(header, "=zz=", COMPATIBLE));
        assertEquals("=\r=41", text(header, "=\r=3D41", COMPATIBLE));
        assertEquals("==", text(header, "==3D", COMPATIBLE));
    }

    @Test
    void transferEncoding_unknownOrInStandard_isNotDecoded() throws IOException {
        assertEquals("dg==", text("Content-Transfer-Encoding: base64\r\n", "dg==", MultipartOptions.defaults()));
        assertEquals(
                "=41", text("Content-Transfer-Encoding: quoted-printable\r\n", "=41", MultipartOptions.defaults()));
        assertEquals("=41", text("Content-Transfer-Encoding: x-uuencode\r\n", "=41", COMPATIBLE));
        assertEquals("v", text("Content-Transfer-Encoding: base64\r\n", "dg==", COMPATIBLE));
    }

    // ---- errors

    @Test
    void sourceFails_exceptionIsUnchangedAndReadingCanContinue() throws IOException {
        IOException reset = new IOException("connection reset");
        boolean[] thrown = new boolean[1];
        InputStream in = new OneByteStream(Decoding.bytes(PART + "one\r\n--x--")) {
            @Override
            public int read(byte[] target, int offset, int length) {
                if (available() == 8 && !thrown[0]) {
                    thrown[0] = true;
                    throw Throwing.<RuntimeException>unchecked(reset);
                }
                return super.read(target, offset, length);
            }
        };
        try (MultipartReader reader = MultipartReader.create(in, X)) {
            InputStream body = next(reader).inputStream();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            assertSame(reset, assertThrows(IOException.class, () -> body.transferTo(out)));
            body.transferTo(out);
            assertEquals("one", out.toString(StandardCharsets.US_ASCII));
            assertNull(reader.nextPart());
        }
    }

    @Test
    void malformedBody_everyCallThrowsSameException() throws IOException {
        try (MultipartReader reader = MultipartReader.create(stream(PART + "one\r\n--x!"), X)) {
            Part part = next(reader);
            InputStream body = part.inputStream();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            MultipartException first = assertThrows(MultipartException.class, () -> body.transferTo(out));
            assertEquals("one", out.toString(StandardCharsets.US_ASCII), "the data before the error");
            assertEquals(Reason.MALFORMED_DELIMITER, first.reason());
            assertEquals(PART.length() + 8, first.offset());
            assertSame(first, assertThrows(MultipartException.class, body::read));
            assertSame(first, assertThrows(MultipartException.class, reader::nextPart));
            assertSame(first, assertThrows(MultipartException.class, reader::nextPart));
        }
    }

    // ---- ownership

    @Test
    void close_afterSourceFailure_releasesBuffers() throws IOException {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false, false);
        MultipartOptions options =
                MultipartOptions.builder().allocator(allocator).build();
        InputStream in = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("reset");
            }
        };
        MultipartReader reader = MultipartReader.create(in, X, options);
        assertThrows(IOException.class, reader::nextPart);
        reader.close();
        reader.close();
        assertEquals(0, allocator.metric().usedHeapMemory());
    }

    @Test
    void chunk_isReusedUnlessRetained() throws IOException {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false, false);
        MultipartOptions options =
                MultipartOptions.builder().allocator(allocator).build();
        InputStream in = new OneByteStream(Decoding.bytes(PART + "v".repeat(1000) + "\r\n--x--"));
        try (MultipartReader reader = MultipartReader.create(in, X, options)) {
            Part part = next(reader);
            ByteBuf held = part.nextData().retain();
            long one = allocator.metric().usedHeapMemory();
            StringBuilder rest = new StringBuilder();
            for (ByteBuf data; (data = part.nextData()) != null; ) {
                rest.append(data.toString(StandardCharsets.US_ASCII));
            }
            assertEquals("v".repeat(999), rest.toString());
            assertEquals("v", held.toString(StandardCharsets.US_ASCII), "the retained chunk was overwritten");
            assertTrue(allocator.metric().usedHeapMemory() <= 2 * one, "more than one new chunk was allocated");
            held.release();
        }
        assertEquals(0, allocator.metric().usedHeapMemory());
    }

    // ---- threads

    @Test
    @Timeout(300)
    void reader_worksOnPlatformAndVirtualThreads() throws Exception {
        for (boolean virtual : List.of(false, true)) {
            Pipe pipe = Pipe.open();
            FutureTask<List<String>> task = new FutureTask<>(() -> {
                List<String> texts = new ArrayList<>();
                try (MultipartReader reader = MultipartReader.create(pipe.source(), X)) {
                    for (Part part; (part = reader.nextPart()) != null; ) {
                        texts.add(part.text());
                    }
                }
                return texts;
            });
            start(task, virtual);
            for (byte b : Decoding.bytes(BODY)) {
                pipe.sink().write(ByteBuffer.wrap(new byte[] {b}));
            }
            pipe.sink().close();
            assertEquals(List.of("one", "a\r\n-\r\n--y", ""), task.get());
            pipe.source().close();
        }
    }

    /** Runs the task on a virtual thread, which exists only since JDK 21, or on a platform thread. */
    private static void start(Runnable task, boolean virtual) throws ReflectiveOperationException {
        if (virtual && Runtime.version().feature() >= 21) {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        } else {
            new Thread(task, "reader").start();
        }
    }
}
