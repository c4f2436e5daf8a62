package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartDecoder.Event;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ownership of buffers: reference counts are exact, and all buffers are released at the end. */
class OwnershipTest {
    private static final String BODY = "pre\r\n--x\r\n" + Verdict.A
            + "X: y\r\n\r\nvalue\r\n--y\r\n--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.bin\"\r\n"
            + "Content-Type: a/b\r\n\r\n\r\r\n-\r\n\r\n--x--\r\nepilogue";

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false, false);

    private final MultipartOptions options =
            MultipartOptions.builder().allocator(allocator).build();

    @AfterEach
    void nothingIsOutstanding() {
        assertEquals(0, outstanding());
    }

    private long outstanding() {
        return allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory();
    }

    private MultipartDecoder decoder() {
        return MultipartDecoder.create(Boundary.of("x"), options);
    }

    private ByteBuf chunk(String text) {
        return allocator.heapBuffer(text.length()).writeBytes(Decoding.bytes(text));
    }

    private static String text(ByteBuf bytes) {
        return bytes.toString(StandardCharsets.ISO_8859_1);
    }

    @Test
    void chunk_isOwnedByTheDecoderUntilRead() throws MultipartException {
        ByteBuf chunk = chunk(BODY);
        try (MultipartDecoder decoder = decoder()) {
            decoder.feed(chunk);
            for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                assertEquals(1, chunk.refCnt(), () -> "after part " + decoder.partIndex() + " at " + decoder.offset());
                if (event == Event.DATA) {
                    decoder.data();
                    assertEquals(1, chunk.refCnt(), "data() changed the reference count");
                }
            }
            assertEquals(0, chunk.refCnt(), "the chunk was not released before the next one was requested");
            decoder.finish();
            assertEquals(Event.END, decoder.next());
            assertEquals(0, outstanding(), "the header section was not released at the end");
        }
    }

    @Test
    void feed_rejected_releasesTheChunk() {
        MultipartDecoder decoder = decoder();
        ByteBuf first = chunk("--x\r\n");
        decoder.feed(first);
        ByteBuf second = chunk("y");
        assertThrows(IllegalStateException.class, () -> decoder.feed(second));
        assertEquals(0, second.refCnt());
        assertEquals(1, first.refCnt());
        decoder.close();
        ByteBuf third = chunk("z");
        assertThrows(IllegalStateException.class, () -> decoder.feed(third));
        assertEquals(0, third.refCnt());
        assertEquals(0, first.refCnt());
    }

    @Test
    void chunk_empty_isReleasedAtOnce() {
        try (MultipartDecoder decoder = decoder()) {
            ByteBuf empty = allocator.heapBuffer(8);
            decoder.feed(empty);
            assertEquals(0, empty.refCnt());
        }
    }

    @Test
    void data_retained_outlivesTheDecoder() throws MultipartException {
        for (int size : new int[] {1, 2, 3, 7, BODY.length()}) {
            Deque<ByteBuf> kept = new ArrayDeque<>();
            MultipartDecoder decoder = decoder();
            for (int from = 0; from < BODY.length(); from += size) {
                decoder.feed(chunk(BODY.substring(from, Math.min(BODY.length(), from + size))));
                for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                    if (event == Event.DATA) {
                        kept.add(
                                kept.size() % 2 == 0
                                        ? decoder.data().retain()
                                        : decoder.data().retainedSlice());
                    }
                }
            }
            decoder.close();
            StringBuilder data = new StringBuilder();
            for (ByteBuf slice : kept) {
                data.append(text(slice));
                slice.release();
            }
            assertEquals("value\r\n--y" + "\r\r\n-\r\n", data.toString(), "chunks of " + size);
            assertEquals(0, outstanding());
        }
    }

    @Test
    void data_isASliceOfTheChunk() throws MultipartException {
        ByteBuf chunk = chunk("--x\r\n" + Verdict.A + "\r\n0123456789\r\n--x--");
        try (MultipartDecoder decoder = decoder()) {
            decoder.feed(chunk);
            assertEquals(Event.PART_BEGIN, decoder.next());
            assertEquals(Event.DATA, decoder.next());
            int at = (int) decoder.partOffset();
            chunk.setByte(at + 4, '!');
            assertEquals("0123!56789", text(decoder.data()));
        }
    }

    @Test
    void failure_releasesEverything() {
        for (String body : List.of(
                "--xy",
                "--x\r\nX\r\n",
                "--x\r\nX: y",
                "--x\r\nX: y\r\n\r\n",
                "--x\r\n" + Verdict.A + "\r\nv\r\n--x!",
                "--x\r\n" + Verdict.A + "\r\nv\r\n--x--!",
                "--x\r\n" + Verdict.A + Verdict.A + "\r\n",
                "p".repeat(5000),
                "--x\r\n" + "N".repeat(9000))) {
            for (int size : new int[] {1, body.length()}) {
                try (MultipartDecoder decoder = decoder()) {
                    MultipartException failure = null;
                    for (int from = 0; from < body.length() && failure == null; from += size) {
                        ByteBuf chunk = chunk(body.substring(from, Math.min(body.length(), from + size)));
                        decoder.feed(chunk);
                        try {
                            while (decoder.next() != Event.NEED_INPUT) {}
                        } catch (MultipartException e) {
                            failure = e;
                            assertEquals(0, chunk.refCnt());
                        }
                    }
                    if (failure == null) { // the body ends within a header section, which is held
                        assertTrue(outstanding() > 0);
                        decoder.finish();
                        failure = assertThrows(MultipartException.class, decoder::next);
                    }
                    assertEquals(0, outstanding(), "held after " + failure);
                    assertThrows(IllegalStateException.class, decoder::data);
                    assertThrows(IllegalStateException.class, decoder::rawHeaders);
                }
            }
        }
    }

    @Test
    void rawHeaders_retained_surviveLaterParts() throws MultipartException {
        String body = BODY.replace("--x--", "--x\r\n" + Verdict.A + "Z: " + "z".repeat(2000) + "\r\n\r\n--x--");
        for (int size : new int[] {1, 5, body.length()}) {
            List<ByteBuf> kept = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            MultipartDecoder decoder = decoder();
            for (int from = 0; from < body.length(); from += size) {
                decoder.feed(chunk(body.substring(from, Math.min(body.length(), from + size))));
                for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                    if (event == Event.PART_BEGIN) {
                        kept.add(decoder.rawHeaders().retain());
                        expected.add(text(decoder.rawHeaders()));
                    }
                }
            }
            assertEquals(3, kept.size());
            assertEquals(expected, kept.stream().map(OwnershipTest::text).toList());
            decoder.close();
            assertEquals(expected, kept.stream().map(OwnershipTest::text).toList());
            kept.forEach(
                    headers -> assertEquals(1, headers.refCnt(), "the closed decoder still holds the header section"));
            kept.forEach(ByteBuf::release);
            assertEquals(0, outstanding());
        }
    }

    @Test
    void head_isCreatedOnceAndOutlivesThePart() throws MultipartException {
        MultipartDecoder decoder = decoder();
        ByteBuf chunk = chunk(BODY);
        decoder.feed(chunk);
        assertEquals(Event.PART_BEGIN, decoder.next());
        PartHead head = decoder.head();
        assertSame(head, decoder.head());
        assertEquals("PartHead[index=0, offset=" + head.offset() + "]", head.toString());
        assertSame(head.name(), decoder.name());
        assertSame(head.filename(), decoder.filename());
        byte[] raw = head.rawHeader(1);
        raw[0] = '!';
        while (decoder.next() != Event.NEED_INPUT) {}
        decoder.close();
        assertEquals("y", head.header("x"));
        assertEquals(2, head.headers().size());
        assertEquals(head.offset() - "pre\r\n--x\r\n".length(), head.headerBytes());
        assertEquals(2 * head.offset(), head.within(head).offset());
    }

    @Test
    void failedMatch_acrossChunks_holdsNoOldChunk() throws MultipartException {
        try (MultipartDecoder decoder = decoder()) {
            ByteBuf first = chunk("--x\r\n" + Verdict.A + "\r\nv\r\n--");
            decoder.feed(first);
            while (decoder.next() != Event.NEED_INPUT) {}
            assertEquals(0, first.refCnt(), "the chunk of a possible delimiter is still held");
            ByteBuf second = chunk("y");
            decoder.feed(second);
            assertEquals(Event.DATA, decoder.next());
            ByteBuf constant = decoder.data().retain();
            assertEquals("\r\n--", text(constant));
            assertEquals(Event.DATA, decoder.next());
            assertEquals("y", text(decoder.data()));
            assertEquals(Event.NEED_INPUT, decoder.next());
            assertEquals("\r\n--", text(constant), "the text of the delimiter changed after the next event");
            constant.release();
            assertEquals("\r\n--", text(constant), "the text of the delimiter was released");
        }
    }

    @Test
    void feed_allocatesNothing_dataAtMostOneSlice() throws MultipartException {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        for (ByteBuf chunk : List.of(
                Unpooled.wrappedBuffer(new byte[8192]),
                io.netty.buffer.PooledByteBufAllocator.DEFAULT
                        .directBuffer(8192)
                        .writeZero(8192))) {
            try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
                String head = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n";
                decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(head)));
                while (decoder.next() != MultipartDecoder.Event.NEED_INPUT) {}
                int rounds = 20_000;
                long before = 0;
                for (int i = 0; i < 2 * rounds; i++) {
                    if (i == rounds) { // the JIT has compiled everything by now
                        before = threads.getThreadAllocatedBytes(thread);
                    }
                    decoder.feed(chunk.retain());
                    while (decoder.next() != MultipartDecoder.Event.NEED_INPUT) {
                        decoder.data();
                    }
                }
                long perChunk = (threads.getThreadAllocatedBytes(thread) - before) / rounds;
                assertTrue(perChunk <= 64, chunk + ": " + perChunk + " bytes per chunk");
            }
            chunk.release();
        }
    }
}
