package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.PushedForm;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Section F of threats.md, arithmetic and announced lengths: sizes are {@code long} values, and only received bytes are counted. */
class ArithmeticTest {
    /** A long boundary, so that the search uses long strides. */
    private static final String B =
            "0123456789abcdefghijklmnopqrstuvwxyz".repeat(2).substring(0, 70);

    private static final Boundary BOUNDARY = Boundary.of(B);
    private static final String HEAD = "--" + B + "\r\n" + Run.FIELD + "\r\n";
    private static final String TAIL = "\r\n--" + B + "--\r\n";
    private static final Boundary X = Boundary.of("x");
    private static final int BLOCK = 16 << 20;
    private static final ByteBuf VIRTUAL = Unpooled.wrappedBuffer(new byte[BLOCK]);

    private static ByteBuf chunk(String text) {
        return Unpooled.wrappedBuffer(Run.bytes(text));
    }

    /**
     * Feeds a part of {@code size} bytes.
     *
     * @return the number of bytes delivered
     */
    private static long feed(MultipartDecoder decoder, long size) throws MultipartException {
        long data = drain(decoder, chunk(HEAD));
        for (long left = size; left > 0; left -= BLOCK) {
            data += drain(decoder, VIRTUAL.retainedSlice(0, (int) Math.min(left, BLOCK)));
        }
        data += drain(decoder, chunk(TAIL));
        decoder.finish();
        assertEquals(Event.END, decoder.next());
        return data;
    }

    private static long drain(MultipartDecoder decoder, ByteBuf chunk) throws MultipartException {
        decoder.feed(chunk);
        long data = 0;
        for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
            data += event == Event.DATA ? decoder.data().readableBytes() : 0;
        }
        return data;
    }

    @Test
    void cve_2025_52520_sizesAndLimits_beyondIntRange_areExact() throws MultipartException {
        for (long size : new long[] {Integer.MAX_VALUE, 1L << 31, 1L << 32, 5L << 30}) {
            MultipartOptions atLimit =
                    Run.options(limits -> limits.maxPartBytes(size).maxBodyBytes(HEAD.length() + size + TAIL.length()));
            try (MultipartDecoder decoder = MultipartDecoder.create(BOUNDARY, atLimit)) {
                assertEquals(size, feed(decoder, size));
                assertEquals(size, decoder.partSize());
                assertEquals(HEAD.length() + size + TAIL.length(), decoder.offset());
            }
        }
        long limit = 1L << 32;
        assertTooLarge(Reason.PART_TOO_LARGE, Run.options(limits -> limits.maxPartBytes(limit)), limit + HEAD.length());
        assertTooLarge(Reason.BODY_TOO_LARGE, Run.options(limits -> limits.maxBodyBytes(limit)), limit);
        assertEquals(1, VIRTUAL.refCnt());
    }

    private static void assertTooLarge(Reason reason, MultipartOptions options, long offset) {
        try (MultipartDecoder decoder = MultipartDecoder.create(BOUNDARY, options)) {
            MultipartException e = assertThrows(MultipartException.class, () -> feed(decoder, 5L << 30));
            assertEquals(reason, e.reason());
            assertEquals(offset, e.offset());
        }
    }

    @Test
    void netty_15463_sinkLimit_beyondIntRange_isExact() throws IOException {
        long limit = (1L << 32) + 5;
        PartSink limited = PartSink.limited(PartSink.discard(), limit);
        for (long size = 0; size + BLOCK <= limit; size += BLOCK) {
            limited.write(VIRTUAL.duplicate());
        }
        limited.write(VIRTUAL.slice(0, 5));
        assertThrows(MultipartException.class, () -> limited.write(VIRTUAL.slice(0, 1)));
        limited.close();
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                .unlimitedBodyBytes()
                .decider(part -> PartDecision.to(PartSink.limited(PartSink.discard(), limit)))
                .build();
        try (PushedForm assembler = PushedForm.create(BOUNDARY, options)) {
            assembler.feed(chunk(HEAD));
            for (long size = 0; size + BLOCK <= limit; size += BLOCK) {
                assembler.feed(VIRTUAL.retainedDuplicate());
            }
            assembler.feed(chunk("12345" + TAIL));
            try (MultipartForm form = assembler.finish()) {
                assertEquals(HEAD.length() + limit + TAIL.length(), form.bodyBytes());
            }
        }
    }

    @Test
    void pythonMultipart_297_wrongContentLength_doesNotChangeLimits() throws IOException {
        String body = Run.HEAD + "value" + Run.TAIL;
        for (long announced : new long[] {Long.MIN_VALUE, -2, -1, 0, 1, body.length(), 1_000_000, Long.MAX_VALUE}) {
            FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                    .maxBodyBytes(body.length())
                    .build();
            if (announced > body.length()) {
                MultipartException e =
                        assertThrows(MultipartException.class, () -> PushedForm.create(X, options, announced));
                assertEquals(Reason.BODY_TOO_LARGE, e.reason());
                continue;
            }
            try (PushedForm assembler = PushedForm.create(X, options, announced)) {
                assembler.feed(chunk(body));
                try (MultipartForm form = assembler.finish()) {
                    assertEquals("value", form.text("a"));
                }
            }
            try (PushedForm assembler = PushedForm.create(X, options, announced)) {
                MultipartException e = assertThrows(MultipartException.class, () -> assembler.feed(chunk(body + " ")));
                assertEquals(Reason.BODY_TOO_LARGE, e.reason());
                assertTrue(assembler.intake().demand() <= options.maxDrainBytes() + 1);
            }
        }
    }

    @Test
    void cve_2026_34829_bodyOfUnknownLength_isLimited() {
        for (int chunkSize : new int[] {1, 100, 64 << 10}) {
            Run run = Run.of(
                            new Repeated(Run.HEAD, "v", 4 << 20, Run.TAIL),
                            Run.options(limits -> limits.maxBodyBytes(1000)),
                            chunkSize)
                    .assertRejected(Reason.BODY_TOO_LARGE);
            assertEquals(1000, run.failure.offset());
            assertTrue(run.fed <= 1000 + chunkSize, "fed: " + run.fed);
        }
        Repeated body = new Repeated(Run.HEAD, "v", 1L << 30, Run.TAIL);
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                .maxBodyBytes(1000)
                .build();
        assertThrows(MultipartException.class, () -> PushedForm.read(body, X, options));
        assertTrue(body.taken() <= 1000 + (32 << 10), "taken: " + body.taken());
    }
}
