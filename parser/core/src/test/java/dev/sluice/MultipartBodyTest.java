package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.PartHead.Header;
import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class MultipartBodyTest {
    enum Way {
        OUTPUT_STREAM {
            @Override
            byte[] write(MultipartBody body) throws IOException {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                body.writeTo(out);
                return out.toByteArray();
            }
        },
        CHANNEL {
            @Override
            byte[] write(MultipartBody body) throws IOException {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                body.writeTo(Channels.newChannel(out));
                return out.toByteArray();
            }
        },
        INPUT_STREAM {
            @Override
            byte[] write(MultipartBody body) throws IOException {
                try (InputStream in = body.inputStream()) {
                    ByteArrayOutputStream out = new ByteArrayOutputStream();
                    assertEquals(0, in.read(new byte[0]));
                    out.write(in.read());
                    in.transferTo(out);
                    assertEquals(-1, in.read());
                    return out.toByteArray();
                }
            }
        },
        PUBLISHER {
            @Override
            byte[] write(MultipartBody body) throws IOException {
                Received<ByteBuffer> received = new Received<>(Long.MAX_VALUE);
                body.publisher().subscribe(received);
                if (received.failure != null) {
                    throw Throwing.<RuntimeException>unchecked(received.failure);
                }
                assertEquals(1, received.completions);
                return received.bytes.toByteArray();
            }
        };

        abstract byte[] write(MultipartBody body) throws IOException;
    }

    private final CountingAllocator allocator = new CountingAllocator();

    @TempDir
    Path directory;

    @AfterEach
    void nothingIsOutstanding() {
        assertEquals(List.of(), allocator.unreleased());
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    private static String latin1(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static Decoding.Result decoded(MultipartBody body, byte[] bytes) throws IOException {
        Boundary boundary = Boundary.anyMultipart(body.contentType(), Preset.STRICT);
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        Decoding.Result result = Decoding.decode(boundary, bytes, strict, 1000);
        assertEquals(List.of(), result.reasons());
        assertEquals(List.of(), result.deviations());
        return result;
    }

    private static List<String> contents(Decoding.Result result) {
        return result.parts().stream().map(Decoding.Part::body).toList();
    }

    @ParameterizedTest
    @EnumSource
    void body_writtenInAnyWay_hasTheSameBytes(Way way) throws IOException {
        Path file = Files.write(directory.resolve("a.bin"), random(100_000));
        ByteBuf buffer = Unpooled.directBuffer().writeBytes(random(50_000)).skipBytes(10);
        MultipartBody.Builder builder = MultipartBody.builder()
                .field("title", "Zoë")
                .field("json", "application/json", Content.of("{}"))
                .file("path", file)
                .file("bytes", "b", "a/b", Content.of(random(40_000)))
                .file("few", "b", "a/b", Content.of(random(1000)))
                .file("buffer", "c", "a/b", Content.of(buffer))
                .file("none", "d", "a/b", Content.of(""))
                .file(
                        "stream",
                        "e",
                        "a/b",
                        Content.stream(() -> new ByteArrayInputStream(random(70_000)))
                                .withLength(70_000));
        for (int i = 0; i < 900; i++) {
            builder.field("f" + i, "value " + i);
        }
        MultipartBody body = builder.build();
        byte[] first = way.write(body);
        assertEquals(OptionalLong.of(first.length), body.contentLength());
        assertArrayEquals(first, way.write(body), "the body differs when it is sent again");
        assertArrayEquals(first, Way.OUTPUT_STREAM.write(body));
        List<String> contents = contents(decoded(body, first));
        byte[] shared = new byte[buffer.readableBytes()];
        buffer.getBytes(10, shared).release();
        List<String> expected = new ArrayList<>(List.of(
                latin1("Zoë".getBytes(StandardCharsets.UTF_8)),
                "{}",
                latin1(random(100_000)),
                latin1(random(40_000)),
                latin1(random(1000)),
                latin1(shared),
                "",
                latin1(random(70_000))));
        assertEquals(expected, contents.subList(0, expected.size()));
        assertEquals(900 + expected.size(), contents.size());
        assertTrue(body.isReplayable());
    }

    @ParameterizedTest
    @EnumSource
    void contentOfUnknownLength_isSentCompletely(Way way) throws IOException {
        byte[] content = random(100_000);
        MultipartBody body = MultipartBody.builder()
                .file("a", "b", "c/d", Content.stream(() -> new ByteArrayInputStream(content)))
                .file("e", "f", "c/d", Content.stream(InputStream::nullInputStream))
                .build();
        assertEquals(OptionalLong.empty(), body.contentLength());
        assertEquals(-1, body.publisher().contentLength());
        assertEquals(List.of(latin1(content), ""), contents(decoded(body, way.write(body))));
    }

    @ParameterizedTest
    @EnumSource
    void content_lengthDiffersFromDeclaredLength_throws(Way way) throws IOException {
        Path file = Files.write(directory.resolve("a.bin"), random(10));
        MultipartBody body =
                MultipartBody.builder().field("x", "y").file("photo", file).build();
        Files.write(file, random(8));
        IOException shrunk = assertThrows(IOException.class, () -> way.write(body));
        assertEquals(
                "part 1 \"photo\" ended 2 bytes before its declared length: it changed while it was sent, or its length is wrong",
                shrunk.getMessage());
        Files.write(file, random(11));
        IOException grown = assertThrows(IOException.class, () -> way.write(body));
        assertEquals(
                "part 1 \"photo\" has more bytes than declared: it changed while it was sent, or its length is wrong",
                grown.getMessage());
        Files.write(file, random(10));
        assertEquals(2, decoded(body, way.write(body)).parts().size());
    }

    @ParameterizedTest
    @EnumSource
    void content_containsDelimiter_throws(Way way) {
        for (Content content : List.of(
                Content.of("--x"),
                Content.of(Unpooled.wrappedBuffer("a\r\n--x".getBytes(StandardCharsets.US_ASCII))),
                Content.stream(() -> new ByteArrayInputStream("a\n--x".getBytes(StandardCharsets.US_ASCII))))) {
            MultipartBody body = MultipartBody.builder()
                    .boundary("x")
                    .file("a", "b", "c/d", content)
                    .build();
            IOException e = assertThrows(IOException.class, () -> way.write(body));
            assertTrue(e.getMessage().startsWith("part 0 \"a\" contains the boundary"), e.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource
    void contentForOneSending_sentAgain_throws(Way way) throws IOException {
        for (Content content : List.of(
                Content.once(new ByteArrayInputStream(random(10))),
                Content.once(new ByteArrayInputStream(random(10))).withLength(10))) {
            MultipartBody body =
                    MultipartBody.builder().field("log", "a/b", content).build();
            assertFalse(body.isReplayable());
            assertEquals(List.of(latin1(random(10))), contents(decoded(body, way.write(body))));
            IllegalStateException e = assertThrows(IllegalStateException.class, () -> way.write(body));
            assertTrue(e.getMessage().startsWith("part 0 \"log\" can be sent only once"), e.getMessage());
        }
    }

    @Test
    void inputStream_closed_cannotBeRead() throws IOException {
        InputStream in = MultipartBody.builder().field("a", "1").build().inputStream();
        in.read();
        in.close();
        in.close();
        assertThrows(IOException.class, in::read);
    }

    @Test
    void bodyWithoutParts_isTheCloseDelimiter() throws IOException {
        MultipartBody body = MultipartBody.builder().boundary("x").build();
        assertEquals("--x--\r\n", latin1(Way.OUTPUT_STREAM.write(body)));
        assertEquals(OptionalLong.of(7), body.contentLength());
        assertEquals("multipart/form-data; boundary=x", body.contentType());
    }

    @Test
    void related_contentType_namesTheTypeOfTheFirstPart() throws IOException {
        MultipartBody body = MultipartBody.builder("related")
                .boundary("b c")
                .part(
                        List.of(new Header("Content-ID", "<1>"), new Header("content-type", "application/json; a=b")),
                        Content.of("{}"))
                .part(List.of(), Content.of("x"))
                .build();
        assertEquals("multipart/related; type=\"application/json\"; boundary=\"b c\"", body.contentType());
        assertEquals(List.of("{}", "x"), contents(decoded(body, Way.OUTPUT_STREAM.write(body))));
        assertEquals(
                "multipart/related; type=\"text/plain\"; boundary=x",
                MultipartBody.builder("Related")
                        .boundary("x")
                        .part(List.of(), Content.of(""))
                        .build()
                        .contentType());
    }

    @Test
    void related_firstPartWithARejectedType_isNotAdded() throws IOException {
        MultipartBody.Builder builder = MultipartBody.builder("related");
        for (String type : List.of("text", "application/x-boundary")) {
            List<Header> headers = List.of(new Header("Content-Type", type));
            assertThrows(IllegalArgumentException.class, () -> builder.part(headers, Content.of("a")), type);
        }
        MultipartBody body =
                builder.boundary("x").part(List.of(), Content.of("b")).build();
        assertEquals(List.of("b"), contents(decoded(body, Way.OUTPUT_STREAM.write(body))));
    }

    @Test
    void misuse_isRejected() {
        MultipartBody.Builder form = MultipartBody.builder();
        assertThrows(IllegalStateException.class, () -> form.part(List.of(), Content.of("")));
        assertThrows(
                IllegalStateException.class,
                () -> MultipartBody.builder("mixed").field("a", "b"));
        for (String subtype : List.of("mixed; a=b\r\n", "mixed; a=b", "mixed ", "form-data; a=b", "")) {
            assertThrows(IllegalArgumentException.class, () -> MultipartBody.builder(subtype), subtype);
        }
        MultipartBody missing =
                form.file("a", "b", "c/d", Content.stream(() -> null)).build();
        assertThrows(NullPointerException.class, () -> Way.OUTPUT_STREAM.write(missing));
        assertThrows(
                IllegalArgumentException.class, () -> MultipartBody.builder().boundary("ä"));
        assertThrows(IllegalArgumentException.class, () -> Content.of("").withLength(-1));
        MultipartBody.Builder other = MultipartBody.builder();
        assertThrows(IllegalArgumentException.class, () -> other.field("a\nb", "c"));
        assertThrows(IOException.class, () -> other.file("a", directory.resolve("missing")));
    }

    @Test
    void emptyFileInput_isWrittenWithItsLength() throws IOException {
        MultipartBody body = MultipartBody.builder()
                .emptyFileInput("photo")
                .field("title", "Sea")
                .build();
        byte[] written = Way.OUTPUT_STREAM.write(body);
        assertEquals(OptionalLong.of(written.length), body.contentLength());
        List<Decoding.Part> parts = decoded(body, written).parts();
        assertEquals("", parts.get(0).filename());
        assertEquals("application/octet-stream", parts.get(0).contentType());
        assertEquals(List.of("", "Sea"), parts.stream().map(Decoding.Part::body).toList());
        assertThrows(
                IllegalStateException.class,
                () -> MultipartBody.builder("mixed").emptyFileInput("a"));
        assertThrows(
                IllegalArgumentException.class, () -> MultipartBody.builder().file("a", "", "b/c", Content.of("")));
    }

    @Test
    void lengthBeyondLong_isRejected() {
        MultipartBody.Builder builder = MultipartBody.builder()
                .file(
                        "a",
                        "b",
                        "c/d",
                        Content.stream(InputStream::nullInputStream).withLength(Long.MAX_VALUE));
        assertThrows(ArithmeticException.class, builder::build);
    }

    @Test
    void names_areEscapedAsTheBuilderSays() throws IOException {
        MultipartBody body = MultipartBody.builder()
                .browserEscaping()
                .field("a\r\nb", "")
                .replaceNames()
                .field("a\r\nb", "")
                .build();
        assertEquals(
                List.of("a%0D%0Ab", "a__b"),
                decoded(body, Way.OUTPUT_STREAM.write(body)).parts().stream()
                        .map(Decoding.Part::name)
                        .toList());
    }

    @Test
    void chunks_ofContentInMemory_allocateNothing() throws IOException {
        byte[] large = random(2000);
        MultipartBody body = MultipartBody.builder()
                .field("a", "b")
                .file("c", "d", "e/f", Content.of(large))
                .build();
        try (BodyChunks chunks = body.chunks(allocator)) {
            ByteBuf head = chunks.next();
            assertTrue(head.toString(StandardCharsets.US_ASCII).contains("\r\n\r\nb\r\n--"));
            assertFalse(chunks.isEnded());
            ByteBuf content = chunks.next();
            assertSame(large, content.array());
            ByteBuf end = chunks.next();
            assertTrue(chunks.isEnded());
            assertTrue(end.toString(StandardCharsets.US_ASCII).endsWith("--\r\n"));
            assertNull(chunks.next());
            assertEquals(0, allocator.liveBytes());
            head.release();
            content.release();
            end.release();
        }
    }

    /** The JDK and Netty copy each buffer that is on the heap to direct memory before they write it. */
    @Test
    void largeContentInMemory_isWrittenInPieces() throws IOException {
        byte[] content = random(200_000);
        ByteBuf buffer = Unpooled.directBuffer().writeBytes(content);
        MultipartBody body = MultipartBody.builder()
                .file("a", "b", "c/d", Content.of(content))
                .file("e", "f", "g/h", Content.of(buffer))
                .build();
        List<Integer> written = new ArrayList<>();
        body.writeTo(new WritableByteChannel() {
            @Override
            public int write(ByteBuffer bytes) {
                written.add(bytes.remaining());
                bytes.position(bytes.limit());
                return written.get(written.size() - 1);
            }

            @Override
            public boolean isOpen() {
                return true;
            }

            @Override
            public void close() {}
        });
        assertEquals(64 * 1024, Collections.max(written));
        Received<ByteBuffer> received = new Received<>(1);
        body.publisher().subscribe(received);
        assertEquals(16 * 1024, Collections.max(received.sizes));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (BodyChunks chunks = body.chunks(allocator)) {
            for (ByteBuf chunk; (chunk = chunks.next()) != null; chunk.release()) {
                assertTrue(chunk.readableBytes() <= 16 * 1024);
                bytes.writeBytes(ByteBufUtil.getBytes(chunk));
                assertEquals(0, allocator.liveBytes());
            }
            assertTrue(chunks.isEnded());
        }
        assertArrayEquals(received.bytes.toByteArray(), bytes.toByteArray());
        assertEquals(1, buffer.refCnt());
        buffer.release();
    }

    @Test
    void chunks_closedBeforeTheEnd_areNotEnded() throws IOException {
        MultipartBody body = MultipartBody.builder()
                .file("a", "b", "c/d", Content.of(random(2000)))
                .build();
        BodyChunks chunks = body.chunks(allocator);
        chunks.next().release();
        chunks.next().release();
        chunks.close();
        assertFalse(chunks.isEnded());
    }

    @Test
    void smallBody_withStream_isOneChunkOfExactSize() throws IOException {
        MultipartBody body = MultipartBody.builder()
                .field("a", "b")
                .file(
                        "c",
                        "d",
                        "e/f",
                        Content.stream(() -> new ByteArrayInputStream(random(2000)))
                                .withLength(2000))
                .field("g", "h")
                .build();
        try (BodyChunks chunks = body.chunks(allocator)) {
            ByteBuf whole = chunks.next();
            assertTrue(chunks.isEnded());
            assertEquals(body.contentLength().orElseThrow(), whole.readableBytes());
            assertEquals(allocator.liveBytes(), whole.readableBytes());
            whole.release();
        }
    }

    /** Over HTTP/1.1, an empty chunk would end the message. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void chunks_areNeverEmpty(boolean chosenBoundary) throws IOException {
        MultipartBody.Builder builder = MultipartBody.builder();
        MultipartBody body = (chosenBoundary ? builder.boundary("x y") : builder)
                .field("empty", "")
                .field("none", "c/d", Content.of(Unpooled.EMPTY_BUFFER))
                .file("a", "b", "c/d", Content.of(random(2000)))
                .file("e", "f", "c/d", Content.stream(InputStream::nullInputStream))
                .file("g", "h", "c/d", Content.of(random(2000)))
                .file("i", "j", "c/d", Content.stream(() -> new ByteArrayInputStream(random(32 * 1024))))
                .build();
        try (BodyChunks chunks = body.chunks(allocator)) {
            while (!chunks.isEnded()) {
                ByteBuf chunk = chunks.next();
                assertTrue(chunk.isReadable());
                chunk.release();
            }
            assertNull(chunks.next());
        }
        Received<ByteBuffer> received = new Received<>(1);
        body.publisher().subscribe(received);
        assertEquals(1, received.completions);
        assertFalse(received.sizes.contains(0));
    }

    @Test
    void builder_afterBuildOrFirstPart_rejectsLateCalls() {
        MultipartBody.Builder builder = MultipartBody.builder().field("a", "b");
        assertThrows(IllegalStateException.class, () -> builder.boundary("x"));
        builder.build();
        assertThrows(IllegalStateException.class, () -> builder.field("a", "b"));
        assertThrows(IllegalStateException.class, () -> builder.boundary("x"));
        assertThrows(IllegalStateException.class, builder::build);
        MultipartBody.Builder empty = MultipartBody.builder();
        empty.build();
        assertThrows(IllegalStateException.class, () -> empty.boundary("x"));
    }

    @Test
    void contentForOneSending_bodyCannotBeSent_remainsUnused() throws IOException {
        Content fresh = Content.once(new ByteArrayInputStream(random(10)));
        Content used = Content.once(new ByteArrayInputStream(random(10)));
        MultipartBody.builder().field("b", "c/d", used).build().writeTo(OutputStream.nullOutputStream());
        MultipartBody both = MultipartBody.builder()
                .field("x", "c/d", Content.stream(InputStream::nullInputStream))
                .field("a", "c/d", fresh)
                .field("b", "c/d", used)
                .build();
        assertThrows(IllegalStateException.class, () -> both.chunks(allocator));
        MultipartBody one = MultipartBody.builder().field("a", "c/d", fresh).build();
        assertEquals(List.of(latin1(random(10))), contents(decoded(one, Way.OUTPUT_STREAM.write(one))));
    }

    @Test
    void chunks_closed_releaseEverything() throws IOException {
        ByteBuf large = allocator.buffer().writeZero(5000);
        MultipartBody body =
                MultipartBody.builder().file("a", "b", "c/d", Content.of(large)).build();
        BodyChunks chunks = body.chunks(allocator);
        chunks.next().release();
        ByteBuf content = chunks.next();
        assertEquals(2, large.refCnt());
        chunks.close();
        chunks.close();
        content.release();
        assertEquals(1, large.refCnt());
        large.release();
        assertThrows(IllegalStateException.class, chunks::next);
        ByteBuf delimiter = allocator.buffer().writeBytes("--x".getBytes(StandardCharsets.US_ASCII));
        MultipartBody failing = MultipartBody.builder()
                .boundary("x")
                .file("a", "b", "c/d", Content.of(delimiter))
                .build();
        assertThrows(IOException.class, () -> failing.writeTo(OutputStream.nullOutputStream()));
        assertEquals(1, delimiter.refCnt());
        delimiter.release();
    }

    /** A stream that fails, and records whether it was closed. */
    private static final class Failing extends InputStream {
        final IOException failure = new IOException("broken");
        final boolean failsToClose;
        boolean closed;

        Failing(boolean failsToClose) {
            this.failsToClose = failsToClose;
        }

        @Override
        public int read() throws IOException {
            throw failure;
        }

        @Override
        public void close() throws IOException {
            closed = true;
            if (failsToClose) {
                throw new IOException("not closed");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stream_throws_exceptionIsUnchangedAndStreamIsClosed(boolean failsToClose) throws IOException {
        Failing stream = new Failing(failsToClose);
        MultipartBody body =
                MultipartBody.builder().field("a", "b/c", Content.once(stream)).build();
        assertSame(
                stream.failure, assertThrows(IOException.class, () -> body.writeTo(OutputStream.nullOutputStream())));
        assertTrue(stream.closed);
        assertEquals(failsToClose ? 1 : 0, stream.failure.getSuppressed().length);
        Failing other = new Failing(failsToClose);
        Received<ByteBuffer> received = new Received<>(1);
        MultipartBody.builder()
                .field("a", "b/c", Content.once(other))
                .build()
                .publisher()
                .subscribe(received);
        assertSame(other.failure, received.failure);
        assertTrue(other.closed);
    }

    @Test
    void stream_throws_streamsOfLaterPartsAreClosed() {
        Failing failing = new Failing(false);
        Failing second = new Failing(true);
        Failing third = new Failing(true);
        MultipartBody body = MultipartBody.builder()
                .field("a", "b/c", Content.once(failing))
                .field("d", "b/c", Content.once(second))
                .field("e", "b/c", Content.stream(InputStream::nullInputStream))
                .field("f", "b/c", Content.once(third))
                .build();
        assertSame(
                failing.failure, assertThrows(IOException.class, () -> body.writeTo(OutputStream.nullOutputStream())));
        assertTrue(second.closed && third.closed);
    }

    /** A stream that returns its bytes in small pieces does not lead to small chunks: HTTP/2 servers limit the number of short frames. */
    @Test
    void stream_returnsAvailableBytesInPieces_fillsChunks() throws IOException {
        byte[] bytes = random(3 * BodyChunks.CHUNK_SIZE);
        InputStream pieces = new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] target, int offset, int length) {
                return super.read(target, offset, Math.min(length, 100));
            }
        };
        MultipartBody body =
                MultipartBody.builder().field("a", "b/c", Content.once(pieces)).build();
        int count = 0;
        try (BodyChunks chunks = body.chunks(allocator)) {
            for (ByteBuf chunk; (chunk = chunks.next()) != null; count++) {
                chunk.release();
            }
        }
        assertTrue(count <= 5, "chunks: " + count);
    }

    /** Before JDK 25, the stream of a named pipe throws if it is asked how many bytes are available. */
    @Test
    void stream_cannotSayHowManyBytesAreAvailable_isSent() throws IOException {
        InputStream stream = new ByteArrayInputStream(random(10)) {
            @Override
            public synchronized int read(byte[] target, int offset, int length) {
                return super.read(target, offset, Math.min(length, 1));
            }

            @Override
            public synchronized int available() {
                throw Throwing.<RuntimeException>unchecked(new IOException("Illegal seek"));
            }
        };
        MultipartBody body =
                MultipartBody.builder().field("a", "c/d", Content.once(stream)).build();
        assertEquals(List.of(latin1(random(10))), contents(decoded(body, Way.OUTPUT_STREAM.write(body))));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stream_throwsUnusualException_publisherFails(boolean closing) {
        InputStream stream = new InputStream() {
            @Override
            public int read() {
                throw Throwing.<RuntimeException>unchecked(
                        closing ? new IOException("read") : new Exception("as in Kotlin"));
            }

            @Override
            public void close() {
                if (closing) {
                    throw new AssertionError("close");
                }
            }
        };
        Received<ByteBuffer> received = new Received<>(1);
        MultipartBody.builder()
                .field("a", "b/c", Content.stream(() -> stream))
                .build()
                .publisher()
                .subscribe(received);
        assertEquals(closing ? "read" : "as in Kotlin", received.failure.getMessage());
    }

    @Test
    void chunks_afterFailure_rejectNext() throws IOException {
        MultipartBody body = MultipartBody.builder()
                .field("a", "b/c", Content.stream(InputStream::nullInputStream).withLength(1))
                .build();
        try (BodyChunks chunks = body.chunks(allocator)) {
            assertThrows(IOException.class, chunks::next);
            assertThrows(IllegalStateException.class, chunks::next);
        }
    }

    @Test
    void chunk_released_isFilledAgain() throws IOException {
        byte[] content = random(64 * 1024);
        MultipartBody body = MultipartBody.builder()
                .field("a", "b/c", Content.stream(() -> new ByteArrayInputStream(content)))
                .build();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (BodyChunks chunks = body.chunks(allocator)) {
            ByteBuf first = chunks.next();
            ByteBuf second = chunks.next();
            first.readBytes(bytes, first.readableBytes());
            second.readBytes(bytes, second.readableBytes());
            first.release();
            second.release();
            for (ByteBuf next; (next = chunks.next()) != null; next.release()) {
                assertSame(second, next);
                next.readBytes(bytes, next.readableBytes());
            }
        }
        assertEquals(List.of(latin1(content)), contents(decoded(body, bytes.toByteArray())));
    }

    @Test
    void stream_readReturnsZero_isReadAgain() throws IOException {
        int[] reads = {0};
        InputStream stream = new ByteArrayInputStream(new byte[] {'a'}) {
            @Override
            public int read(byte[] target, int offset, int length) {
                return reads[0]++ < 3 ? 0 : super.read(target, offset, length);
            }
        };
        MultipartBody body =
                MultipartBody.builder().field("a", "b/c", Content.once(stream)).build();
        assertEquals(List.of("a"), contents(decoded(body, Way.OUTPUT_STREAM.write(body))));
    }

    @Test
    void channel_nonBlocking_isRejected() throws IOException {
        Pipe pipe = Pipe.open();
        pipe.sink().configureBlocking(false);
        MultipartBody body = MultipartBody.builder().build();
        assertThrows(IllegalBlockingModeException.class, () -> body.writeTo(pipe.sink()));
        pipe.sink().close();
        pipe.source().close();
    }

    @Test
    void publisher_deliversTheRequestedNumberOfChunks() {
        byte[] content = random(100_000);
        MultipartBody body = MultipartBody.builder()
                .file(
                        "a",
                        "b",
                        "c/d",
                        Content.stream(() -> new ByteArrayInputStream(content)).withLength(content.length))
                .build();
        Received<ByteBuffer> none = new Received<>(0);
        none.onChunk = () -> {};
        body.publisher().subscribe(none);
        assertEquals(List.of(), none.sizes);
        none.subscription.request(2);
        assertEquals(2, none.sizes.size());
        none.subscription.cancel();
        none.subscription.request(1);
        assertEquals(2, none.sizes.size());
        Received<ByteBuffer> each = new Received<>(1);
        body.publisher().subscribe(each);
        assertEquals(1, each.completions);
        assertEquals(body.contentLength().orElseThrow(), each.bytes.size());
        assertTrue(each.sizes.stream().allMatch(size -> size <= 16 * 1024), each.sizes::toString);
        assertEquals(body.publisher().contentLength(), each.bytes.size());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void subscriptionCancelled_orSubscriberThrows_closesTheStream(boolean cancelled) {
        boolean[] closed = {false};
        InputStream stream = new ByteArrayInputStream(random(40_000)) {
            @Override
            public void close() {
                closed[0] = true;
                throw new IllegalStateException("not closed");
            }
        };
        Received<ByteBuffer> received = new Received<>(0);
        received.onChunk = () -> {};
        MultipartBody body =
                MultipartBody.builder().field("a", "b/c", Content.once(stream)).build();
        body.publisher().subscribe(received);
        received.subscription.request(1);
        assertFalse(closed[0]);
        if (cancelled) {
            received.subscription.cancel();
        } else {
            IllegalArgumentException broken = new IllegalArgumentException("broken");
            received.onChunk = () -> {
                throw broken;
            };
            assertSame(broken, assertThrows(IllegalArgumentException.class, () -> received.subscription.request(1)));
        }
        assertTrue(closed[0]);
        received.subscription.request(1);
        assertEquals(cancelled ? 1 : 2, received.sizes.size());
        assertNull(received.failure);
    }

    @Test
    void request_ofZeroChunks_isAnError() {
        Received<ByteBuffer> received = new Received<>(0);
        MultipartBody.builder().build().publisher().subscribe(received);
        received.subscription.request(0);
        assertTrue(received.failure instanceof IllegalArgumentException);
        assertEquals(0, received.completions);
    }
}
