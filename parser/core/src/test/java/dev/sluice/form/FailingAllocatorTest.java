package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.testkit.FailingAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Failures of the Nth allocation, for each N. Nothing leaks, and no wrong event is returned. */
class FailingAllocatorTest {
    private static final Boundary X = Boundary.of("x");
    private static final byte[] BODY = body();

    /** A body whose header sections outgrow the buffer used for earlier ones. */
    private static byte[] body() {
        StringBuilder body = new StringBuilder();
        for (int size : new int[] {1, 300, 2000, 1, 7000}) {
            body.append("--x\r\nContent-Disposition: form-data; name=a").append(size);
            body.append("\r\nX: ")
                    .append("h".repeat(size))
                    .append("\r\n\r\n")
                    .append(size)
                    .append("\r\n");
        }
        return body.append("--x--").toString().getBytes(StandardCharsets.US_ASCII);
    }

    /** Reads to the end or to a failure, and appends the events. */
    private interface Reading {
        void run(FailingAllocator allocator, StringBuilder events) throws Exception;
    }

    private static void failAtEach(int atLeast, Reading reading) throws Exception {
        StringBuilder all = new StringBuilder();
        FailingAllocator enough = new FailingAllocator(FailingAllocator.NEVER);
        reading.run(enough, all);
        int allocations = enough.allocations();
        assertTrue(allocations >= atLeast, allocations + " allocations");
        for (int failsAt = 1; failsAt <= allocations; failsAt++) {
            FailingAllocator allocator = new FailingAllocator(failsAt);
            StringBuilder events = new StringBuilder();
            assertSame(allocator.error, assertThrows(Throwable.class, () -> reading.run(allocator, events)));
            assertTrue(all.toString().startsWith(events.toString()), failsAt + ": " + events);
            assertEquals(0, allocator.memory.liveCount(), failsAt + ": " + allocator.memory.unreleased());
        }
    }

    private static MultipartOptions options(FailingAllocator allocator) {
        return MultipartOptions.builder().allocator(allocator).build();
    }

    @Test
    void decoder_allocationFails_staysFailed() throws Exception {
        for (int size : new int[] {1, 100, BODY.length}) {
            failAtEach(4, (allocator, events) -> {
                try (MultipartDecoder decoder = MultipartDecoder.create(X, options(allocator))) {
                    decode(decoder, size, events);
                }
            });
        }
    }

    private static void decode(MultipartDecoder decoder, int size, StringBuilder events) throws Exception {
        for (int at = 0; at < BODY.length; at += size) {
            decoder.feed(Unpooled.wrappedBuffer(BODY, at, Math.min(size, BODY.length - at)));
            for (Event event; ; ) {
                try {
                    event = decoder.next();
                } catch (OutOfMemoryError e) {
                    assertSame(e, assertThrows(OutOfMemoryError.class, decoder::next));
                    assertThrows(IllegalStateException.class, decoder::head);
                    ByteBuf more = Unpooled.wrappedBuffer(BODY);
                    decoder.feed(more);
                    assertEquals(0, more.refCnt());
                    assertSame(e, assertThrows(OutOfMemoryError.class, decoder::next));
                    throw e;
                }
                if (event == Event.NEED_INPUT || event == Event.END) {
                    break;
                }
                events.append(
                        event == Event.PART_BEGIN ? decoder.rawHeaders().toString(StandardCharsets.US_ASCII) : "");
                events.append(event == Event.DATA ? decoder.data().toString(StandardCharsets.US_ASCII) : event);
            }
        }
    }

    @Test
    void decoder_chunkReleasedByOthers_staysFailed() throws Exception {
        ByteBuf chunk = Unpooled.compositeBuffer()
                .addComponent(true, Unpooled.directBuffer().writeBytes(BODY))
                .addComponent(true, Unpooled.directBuffer().writeBytes(BODY));
        MultipartDecoder decoder = MultipartDecoder.create(X);
        decoder.feed(chunk);
        chunk.release();
        RuntimeException e = assertThrows(RuntimeException.class, decoder::next);
        assertEquals(1, e.getSuppressed().length);
        assertSame(e, assertThrows(RuntimeException.class, decoder::next));
        decoder.close();
    }

    @Test
    void reader_allocationFails_throwsThatError() throws Exception {
        failAtEach(5, (allocator, events) -> {
            try (MultipartReader reader =
                    MultipartReader.create(new ByteArrayInputStream(BODY), X, options(allocator))) {
                for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                    events.append(part.name()).append('=').append(part.text()).append(';');
                }
            }
        });
    }

    @Test
    void form_allocationFails_throwsThatErrorAndReleasesMemory() throws Exception {
        failAtEach(4, (allocator, events) -> {
            MemoryBudget budget = MemoryBudget.of(1 << 20);
            FormOptions options =
                    FormOptions.inMemory(budget).allocator(allocator).build();
            try (PushedForm pushed = PushedForm.create(X, options)) {
                for (int at = 0; at < BODY.length; at += 1000) {
                    pushed.feed(Unpooled.wrappedBuffer(Arrays.copyOfRange(BODY, at, Math.min(BODY.length, at + 1000))));
                }
                try (MultipartForm form = pushed.finish()) {
                    form.parts().forEach(part -> events.append(part.name()).append(';'));
                }
            } finally {
                assertEquals(0, budget.used());
            }
        });
    }
}
