package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.testkit.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Parts that a consumer on another thread reads, and the effects of form and consumer on each other. */
@ExtendWith(LeakCheck.class)
class PartPipeTest {
    private static final Duration SHORT = Duration.ofMillis(1);
    private static final int CHUNK = 32 << 10;

    private final MemoryBudget memory = MemoryBudget.of(2 * CHUNK, 0, 0);

    @AfterEach
    void nothingIsCharged() {
        assertEquals(0, memory.used());
    }

    private static Readiness write(PartSink sink, String text) throws IOException {
        ByteBuf bytes = Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
        try {
            return sink.write(bytes);
        } finally {
            bytes.release();
        }
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "pipe test");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static IOException failure(FutureTask<?> task) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> task.get(1, TimeUnit.MINUTES));
        return (IOException) failure.getCause();
    }

    @Test
    void stream_endsOnlyWhenTheFormIsComplete() throws Exception {
        String text = "The quick brown fox jumps over the lazy dog. ".repeat(100); // too large to be copied
        for (int capacity : new int[] {1, 7, 100_000}) {
            PartPipe pipe = PartPipe.create(capacity, ChronoUnit.FOREVER.getDuration(), memory);
            FutureTask<byte[]> consumer = start(() -> {
                try (InputStream in = pipe.inputStream()) {
                    return in.readAllBytes();
                }
            });
            write(pipe, text);
            write(pipe, "end");
            pipe.complete();
            pipe.publish();
            assertFalse(consumer.isDone());
            pipe.close();
            assertEquals(text + "end", new String(consumer.get(1, TimeUnit.MINUTES), StandardCharsets.US_ASCII));
        }
    }

    @Test
    void pipe_readDownToHalfItsCapacity_isReadyAgain() throws IOException {
        PartPipe pipe = PartPipe.create(4, memory);
        assertTrue(write(pipe, "1234").isReady());
        Readiness full = write(pipe, "5678");
        InputStream in = pipe.inputStream();
        for (int i = 8; i > 2; i--) {
            assertEquals(i <= 2, full.isReady());
            assertEquals(i, in.available());
            in.read();
        }
        assertTrue(full.isReady());
        pipe.complete();
        pipe.close();
        assertEquals(
                "the upload failed before it was complete",
                assertThrows(IOException.class, in::read).getMessage());
    }

    @Test
    void stream_ofFailedForm_throws() throws Exception {
        PartPipe pipe = PartPipe.create(100, memory);
        write(pipe, "all");
        pipe.complete();
        FutureTask<byte[]> consumer = start(() -> pipe.inputStream().readAllBytes());
        pipe.close();
        pipe.close();
        assertEquals(
                "the upload failed before it was complete", failure(consumer).getMessage());
        assertThrows(IllegalStateException.class, () -> write(pipe, "x"));
    }

    @Test
    void stream_ofRetractedPart_throws() throws Exception {
        PartPipe pipe = PartPipe.create(100, memory);
        write(pipe, "all");
        pipe.complete();
        pipe.publish();
        InputStream in = pipe.inputStream();
        assertEquals("all", new String(in.readNBytes(3), StandardCharsets.US_ASCII));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedIOException.class, in::read, "the stream has ended");
        assertTrue(Thread.interrupted());
        pipe.retract();
        pipe.close();
        assertEquals(
                "the upload failed before it was complete",
                assertThrows(IOException.class, in::read).getMessage());
    }

    /** In this order, if the form failed while the publication was pending. */
    @Test
    void stream_ofPartRetractedAfterItWasClosed_throws() throws IOException {
        PartPipe pipe = PartPipe.create(100, memory);
        write(pipe, "all");
        pipe.complete();
        pipe.publish();
        pipe.close();
        pipe.retract();
        pipe.close();
        assertEquals(
                "the upload failed before it was complete",
                assertThrows(IOException.class, pipe.inputStream()::read).getMessage());
    }

    @Test
    void stream_closedEarly_failsThePart() throws IOException {
        PartPipe pipe = PartPipe.create(1, memory);
        Readiness full = write(pipe, "more than fits");
        pipe.inputStream().close();
        assertEquals(
                "the consumer of the part has closed its stream", full.failure().getMessage());
        assertThrows(IOException.class, () -> write(pipe, "x"));
        assertThrows(IOException.class, pipe.inputStream()::read);
        pipe.complete();
        assertThrows(IOException.class, pipe::publish);
        pipe.close();
    }

    @Test
    void stream_stalledForm_timesOutOrIsInterrupted() throws IOException {
        PartPipe pipe = PartPipe.create(4, SHORT, memory);
        InputStream in = pipe.inputStream();
        Thread.currentThread().interrupt();
        assertThrows(InterruptedIOException.class, in::read);
        assertTrue(Thread.interrupted());
        write(pipe, "ab");
        assertEquals("ab", new String(in.readNBytes(2), StandardCharsets.US_ASCII));
        assertEquals(
                "no bytes of the part arrived for 1 ms (maxWait of the pipe)",
                assertThrows(IOException.class, in::read).getMessage());
        assertThrows(IOException.class, () -> write(pipe, "c"));
        pipe.close();
        assertThrows(IllegalArgumentException.class, () -> PartPipe.create(0, memory));
        assertThrows(IllegalArgumentException.class, () -> PartPipe.create(1, Duration.ZERO, memory));
    }

    @Test
    void smallSlice_doesNotKeepItsChunk() throws IOException {
        PartPipe pipe = PartPipe.create(CHUNK, memory);
        ByteBuf chunk = Unpooled.buffer(CHUNK);
        for (int size : new int[] {2 << 10, CHUNK / 2}) { // the second is the largest that is copied
            long before = memory.used();
            pipe.write(chunk.setIndex(0, size).slice().asReadOnly());
            assertEquals(1, chunk.refCnt());
            assertEquals(before + size, memory.used());
        }
        ByteBuf several = Unpooled.wrappedBuffer(chunk.retainedSlice(0, 10), chunk.retainedSlice(0, 20));
        pipe.write(several);
        several.release();
        assertEquals(1, chunk.refCnt());
        chunk.release();
        pipe.close();
    }

    @Test
    void singleBytes_areCollected() throws IOException {
        PartPipe pipe = PartPipe.create(CHUNK, memory);
        byte[] bytes = "0123456789".repeat(100).getBytes(StandardCharsets.US_ASCII);
        for (byte each : bytes) {
            pipe.write(Unpooled.wrappedBuffer(new byte[] {each}));
        }
        assertEquals(1024, memory.used());
        InputStream in = pipe.inputStream();
        assertArrayEquals(bytes, in.readNBytes(bytes.length));
        assertEquals(0, memory.used());
        pipe.close();
    }

    @Test
    void largeSlice_keepsItsChunkUntilItIsRead() throws IOException {
        PartPipe pipe = PartPipe.create(CHUNK, memory);
        ByteBuf chunk = Unpooled.buffer(CHUNK).writerIndex(CHUNK / 2 + 1);
        pipe.write(chunk);
        assertEquals(2, chunk.refCnt());
        assertEquals(CHUNK, memory.used());
        InputStream in = pipe.inputStream();
        in.readNBytes(CHUNK / 2);
        assertEquals(CHUNK, memory.used());
        in.read();
        assertEquals(0, memory.used());
        assertEquals(1, chunk.refCnt());
        pipe.write(chunk.setIndex(0, CHUNK));
        pipe.complete();
        pipe.publish();
        pipe.close(); // called by the form, which has succeeded; the consumer continues to read
        assertEquals(CHUNK, memory.used());
        in.close();
        assertEquals(1, chunk.refCnt());
        chunk.release();
    }

    @Test
    void budgetExhausted_rejectsTheForm() throws IOException {
        FormOptions options = FormOptions.inMemory(memory)
                .decider(part -> PartDecision.to(PartPipe.create(10 * CHUNK, memory)))
                .build();
        String body = "--x\r\nContent-Disposition: form-data; name=a; filename=f\r\n\r\n" + "v".repeat(10 * CHUNK);
        MultipartException rejected = assertThrows(
                MultipartException.class,
                () -> Forms.of(options)
                        .read(
                                new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)),
                                "multipart/form-data; boundary=x"));
        assertEquals(MultipartException.Reason.MEMORY_FULL, rejected.reason());
        assertEquals(503, rejected.httpStatus());
        assertEquals(0, rejected.partIndex());
        assertTrue(memory.peak() > CHUNK, "the pipe was not charged to the budget");
    }
}
