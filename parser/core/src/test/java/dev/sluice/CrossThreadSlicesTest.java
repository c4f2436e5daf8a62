package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.testkit.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Slices that one thread retains and another thread reads and releases while the decoder continues. */
@ExtendWith(LeakCheck.class)
class CrossThreadSlicesTest {
    private static final int SIZE = 400_000;
    private static final int SEED = 20_260_401;

    /** A slice, or null at the end. */
    private record Delivered(@Nullable ByteBuf slice) {}

    private static byte[] data() {
        byte[] data = new byte[SIZE];
        new Random(SEED).nextBytes(data);
        for (int at = 1000; at < SIZE; at += 5000) {
            // looks like a delimiter, so the decoder first holds it back and then delivers it
            byte[] almost = Decoding.bytes("\r\n--almos\r\n--almosx");
            System.arraycopy(almost, 0, data, at, Math.min(almost.length, SIZE - at));
        }
        return data;
    }

    private static byte[] body(byte[] data) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(Decoding.bytes("--almost\r\n" + Verdict.A + "\r\n"));
        body.writeBytes(data);
        body.writeBytes(Decoding.bytes("\r\n--almost--\r\n"));
        return body.toByteArray();
    }

    /** Feeds the whole body and passes each slice to the other thread. */
    private static void produce(byte[] body, int chunkSize, ByteBufAllocator allocator, BlockingQueue<Delivered> queue)
            throws MultipartException {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("almost"))) {
            for (int at = 0; at < body.length; at += chunkSize) {
                int count = Math.min(chunkSize, body.length - at);
                decoder.feed(allocator.buffer(count).writeBytes(body, at, count));
                for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                    if (event == Event.DATA) {
                        queue.add(new Delivered(decoder.data().retain()));
                    }
                }
            }
            decoder.finish();
            assertEquals(Event.END, decoder.next());
        } finally {
            queue.add(new Delivered(null));
        }
    }

    /** Keeps up to {@code mostHeld} slices. The oldest one is read long after the decoder has passed it. */
    private static byte[] consume(BlockingQueue<Delivered> queue, int mostHeld) throws InterruptedException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Deque<ByteBuf> held = new ArrayDeque<>();
        for (ByteBuf slice; (slice = queue.take().slice) != null; ) {
            held.add(slice);
            if (held.size() > mostHeld) {
                take(held.remove(), out);
            }
        }
        held.forEach(slice -> take(slice, out));
        return out.toByteArray();
    }

    private static void take(ByteBuf slice, ByteArrayOutputStream out) {
        byte[] bytes = new byte[slice.readableBytes()];
        slice.readBytes(bytes);
        out.writeBytes(bytes);
        slice.release();
    }

    /** In the last case, all slices are read after the decoder was closed. */
    @ParameterizedTest
    @CsvSource({"11, 50", "1460, 50", "8192, 50", "400000, 50", "1460, 400000"})
    void slices_keptByAnotherThread_areUnchanged(int chunkSize, int mostHeld) throws Exception {
        byte[] data = data();
        byte[] body = body(data);
        UnpooledByteBufAllocator counted = new UnpooledByteBufAllocator(true, false);
        for (ByteBufAllocator allocator : List.of(counted, PooledByteBufAllocator.DEFAULT)) {
            BlockingQueue<Delivered> queue = new LinkedBlockingQueue<>();
            ExecutorService consumer = Executors.newSingleThreadExecutor();
            try {
                Future<byte[]> received = consumer.submit(() -> consume(queue, mostHeld));
                produce(body, chunkSize, allocator, queue);
                assertArrayEquals(data, received.get(1, TimeUnit.MINUTES), "chunks of " + chunkSize + ", seed " + SEED);
            } finally {
                consumer.shutdown();
                assertTrue(consumer.awaitTermination(1, TimeUnit.MINUTES));
            }
        }
        assertEquals(0, counted.metric().usedDirectMemory() + counted.metric().usedHeapMemory());
    }
}
