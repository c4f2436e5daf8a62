package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.IdleSink;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PushedForm;
import dev.sluice.form.Readiness;
import dev.sluice.testkit.CountingAllocator;
import dev.sluice.testkit.Soup;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** Section I of threats.md, reference-counted buffers: exact counts, also after an abort at any byte. */
class BuffersTest {
    private static final byte[] BODY = Run.bytes(Run.field("one", "value")
            + Run.file("two", "f", "\r\n--y\r\n--\r\n0123456789")
            + Run.field("three", "")
            + "--x--\r\n");

    private final CountingAllocator memory = new CountingAllocator();

    private ByteBuf chunk(byte[] bytes, int from, int to) {
        ByteBuf chunk = (from + to) % 2 == 0 ? memory.heapBuffer(to - from) : memory.directBuffer(to - from);
        return chunk.writeBytes(bytes, from, to - from);
    }

    private void assertNoneIsLive(String context) {
        assertEquals(List.of(), memory.unreleased(), context);
    }

    private MultipartOptions options() {
        return MultipartOptions.builder().allocator(memory).build();
    }

    /** A sink that accepts all bytes and keeps them until it is closed. */
    private static final class StalledSink extends IdleSink {
        private final Queue<ByteBuf> queue = new ArrayDeque<>();

        @Override
        public Readiness write(ByteBuf data) {
            queue.add(data.retainedSlice());
            return Readiness.READY;
        }

        @Override
        public void close() {
            while (!queue.isEmpty()) {
                queue.remove().release();
            }
        }
    }

    @Test
    void cve_2026_41840_abortAtAnyByte_withSinkThatKeepsBytes_releasesAllBuffers() throws IOException {
        MemoryBudget budget = MemoryBudget.of(1 << 20);
        FormOptions options = FormOptions.inMemory(budget)
                .allocator(memory)
                .decider(part -> PartDecision.to(new StalledSink()))
                .build();
        for (int chunkSize : new int[] {1, 7, BODY.length}) {
            for (int at = 0; at <= BODY.length; at++) {
                try (PushedForm assembler = PushedForm.create(Boundary.of("x"), options)) {
                    for (int from = 0; from < at; from += chunkSize) {
                        assembler.feed(chunk(BODY, from, Math.min(at, from + chunkSize)));
                    }
                }
                assertNoneIsLive("aborted at " + at);
                assertEquals(0, budget.used());
            }
        }
    }

    @Test
    void vertx_370_closeAtAnyByteOrEvent_releasesAllBuffers() throws IOException {
        for (int at = 0; at <= BODY.length; at++) {
            for (int events = 0; events < 6; events++) {
                MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options());
                feedPairwise(decoder, at, events);
                decoder.close();
                assertNoneIsLive("closed at " + at + " after " + events + " events");
                decoder.close();
            }
            MultipartReader reader =
                    MultipartReader.create(new ByteArrayInputStream(BODY, 0, at), Boundary.of("x"), options());
            try {
                MultipartReader.Part part = reader.nextPart();
                if (part != null && at % 2 == 0) {
                    part.inputStream().read();
                }
            } catch (MultipartException e) {
                assertEquals(MultipartException.Reason.TRUNCATED, e.reason());
            }
            reader.close();
            reader.close();
            assertNoneIsLive("reader closed at " + at);
        }
    }

    /** Feeds the bytes up to {@code at} in two chunks and reads a limited number of events of the second. */
    private void feedPairwise(MultipartDecoder decoder, int at, int events) throws MultipartException {
        decoder.feed(chunk(BODY, 0, at / 2));
        while (decoder.next() != Event.NEED_INPUT) {}
        decoder.feed(chunk(BODY, at / 2, at));
        for (int event = 0; event < events; event++) {
            decoder.next();
        }
    }

    @Test
    void netty_referenceCounts_ofAnyBody_areExact() throws MultipartException {
        int failed = 0;
        for (int seed = 0; seed < 6_000; seed++) {
            Soup.Body soup = Soup.body(seed);
            Preset preset = Run.PRESETS.get(seed % 3);
            MultipartOptions options = options().toBuilder().preset(preset).build();
            ByteBuf kept = null;
            try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options)) {
                byte[] body = Run.bytes(
                        "--x\r\n" + Run.FIELD + "\r\nv" + new String(soup.bytes(), StandardCharsets.ISO_8859_1));
                for (int from = 0; from < body.length; from += 19) {
                    ByteBuf chunk = chunk(body, from, Math.min(body.length, from + 19));
                    decoder.feed(chunk);
                    for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                        if (event == Event.DATA && kept == null) {
                            kept = decoder.data().retain();
                        }
                        assertEquals(kept != null && isSame(kept, chunk) ? 2 : 1, chunk.refCnt());
                    }
                    assertEquals(kept != null && isSame(kept, chunk) ? 1 : 0, chunk.refCnt());
                }
                decoder.finish();
                while (decoder.next() != Event.END) {}
            } catch (MultipartException e) {
                failed++;
                assertTrue(memory.liveCount() <= 1, "live: " + memory.unreleased());
            }
            if (kept != null) {
                assertEquals(1, kept.refCnt());
                kept.release();
            }
            assertNoneIsLive("seed " + seed);
        }
        assertTrue(failed > 1000, "failed: " + failed);
    }

    private static boolean isSame(ByteBuf slice, ByteBuf chunk) {
        return slice.refCnt() > 0 && slice.unwrap() == chunk;
    }
}
