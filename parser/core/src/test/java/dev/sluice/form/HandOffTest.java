package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A part that goes to a consumer on another thread, and what either side does to the other. */
@ExtendWith(LeakCheck.class)
class HandOffTest {
    /** Far too short for a side that does something, and over at once for one that waits for nobody. */
    private static final Duration SHORT = Duration.ofMillis(1);

    private static void write(PartSink sink, String text) throws IOException {
        ByteBuf bytes = Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
        try {
            sink.write(bytes);
        } finally {
            bytes.release();
        }
    }

    private static <T> FutureTask<T> start(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "hand-off test");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    private static IOException failure(FutureTask<?> task) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> task.get(1, TimeUnit.MINUTES));
        return (IOException) failure.getCause();
    }

    @Test
    void aConsumerReadsThePartThroughARingOfAnySize() throws Exception {
        String text = "The quick brown fox jumps over the lazy dog. ".repeat(50);
        for (int capacity : new int[] {1, 7, 100_000}) {
            HandOff handOff = HandOff.create(capacity);
            FutureTask<byte[]> consumer = start(() -> {
                try (InputStream in = handOff.inputStream()) {
                    return in.readAllBytes();
                }
            });
            write(handOff, text);
            write(handOff, "end");
            handOff.complete();
            handOff.close();
            assertEquals(text + "end", new String(consumer.get(1, TimeUnit.MINUTES), StandardCharsets.US_ASCII));
        }
        assertThrows(IllegalArgumentException.class, () -> HandOff.create(0));
        assertThrows(IllegalArgumentException.class, () -> HandOff.create(1, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> HandOff.create(1, Duration.ofNanos(-1)));
    }

    @Test
    void anAbortedPartIsAnErrorForTheConsumerAndNotAnEnd() throws Exception {
        HandOff handOff = HandOff.create(100);
        write(handOff, "half");
        FutureTask<byte[]> consumer = start(() -> handOff.inputStream().readAllBytes());
        handOff.close();
        handOff.close();
        assertEquals(
                "the upload was aborted before the part was complete",
                failure(consumer).getMessage());
        assertThrows(IllegalStateException.class, () -> write(handOff, "x"));
    }

    @Test
    void aConsumerThatLeavesStopsAProducerThatWaits() throws Exception {
        HandOff handOff = HandOff.create(4);
        FutureTask<Void> producer = start(() -> {
            write(handOff, "more than fits");
            return null;
        });
        assertEquals('m', handOff.inputStream().read());
        handOff.inputStream().close();
        assertEquals(
                "the consumer of the part has closed its stream",
                failure(producer).getMessage());
        assertThrows(IOException.class, handOff.inputStream()::read);
    }

    @Test
    void closingFromAnotherThreadFreesAProducerThatWaits() throws Exception {
        HandOff handOff = HandOff.create(4);
        FutureTask<Void> producer = start(() -> {
            write(handOff, "more than fits");
            return null;
        });
        assertEquals('m', handOff.inputStream().read()); // it has begun
        handOff.close();
        assertEquals("the part was aborted", failure(producer).getMessage());
    }

    @Test
    void anInterruptFreesEitherSide() {
        HandOff handOff = HandOff.create(4);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedIOException.class, handOff.inputStream()::read);
        assertTrue(Thread.interrupted());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedIOException.class, () -> write(handOff, "more than fits"));
        assertTrue(Thread.interrupted());
    }

    @Test
    void aProducerGivesUpAConsumerThatIsStalled() {
        HandOff handOff = HandOff.create(4, SHORT);
        IOException failure = assertThrows(IOException.class, () -> write(handOff, "more than fits"));
        assertEquals(
                "the consumer of the part has not read anything for 1 ms (maxWait of the hand-off)",
                failure.getMessage());
        assertEquals(
                "the upload was aborted before the part was complete",
                assertThrows(IOException.class, () -> handOff.inputStream().read())
                        .getMessage(),
                "a consumer that wakes up late does not get half a part");
        handOff.close();
    }

    @Test
    void aConsumerGivesUpAProducerThatIsStalled() throws IOException {
        HandOff handOff = HandOff.create(4, SHORT);
        write(handOff, "ab");
        InputStream in = handOff.inputStream();
        assertEquals("ab", new String(in.readNBytes(2), StandardCharsets.US_ASCII));
        IOException failure = assertThrows(IOException.class, in::read);
        assertEquals("nothing of the part has come for 1 ms (maxWait of the hand-off)", failure.getMessage());
        assertEquals(
                "the consumer of the part has closed its stream",
                assertThrows(IOException.class, () -> write(handOff, "c")).getMessage());
        handOff.close();
    }

    @Test
    void nobodyGivesUpWhatIsThereOrCompleteOrHasRoom() throws IOException {
        HandOff handOff = HandOff.create(4, Duration.ofNanos(1));
        write(handOff, "abcd");
        handOff.complete();
        handOff.close();
        assertEquals("abcd", new String(handOff.inputStream().readAllBytes(), StandardCharsets.US_ASCII));
        assertEquals(-1, handOff.inputStream().read());
    }

    @Test
    void aWaitForEverEndsWhenTheOtherSideDoesSomething() throws Exception {
        HandOff handOff = HandOff.create(1, ChronoUnit.FOREVER.getDuration());
        FutureTask<byte[]> consumer = start(() -> handOff.inputStream().readAllBytes());
        write(handOff, "one by one");
        handOff.complete();
        assertEquals("one by one", new String(consumer.get(1, TimeUnit.MINUTES), StandardCharsets.US_ASCII));
    }

    @Test
    void anInterruptFromAnotherThreadFreesAProducerThatWaits() throws Exception {
        HandOff handOff = HandOff.create(1);
        FutureTask<Boolean> producer = new FutureTask<>(() -> {
            assertThrows(InterruptedIOException.class, () -> write(handOff, "more than fits"));
            return Thread.currentThread().isInterrupted();
        });
        Thread thread = new Thread(producer, "hand-off test");
        thread.setDaemon(true);
        thread.start();
        assertEquals('m', handOff.inputStream().read()); // it has begun
        thread.interrupt();
        assertTrue(producer.get(1, TimeUnit.MINUTES), "the interrupt is still to be seen");
        handOff.close();
    }

    /** Threads that are virtual where the platform has them. There are far more than carriers: whoever waits, lets go. */
    private static ExecutorService threads() throws ReflectiveOperationException {
        return Runtime.version().feature() < 21
                ? Executors.newCachedThreadPool()
                : (ExecutorService) Executors.class
                        .getMethod("newVirtualThreadPerTaskExecutor")
                        .invoke(null);
    }

    @Test
    void manyPairsOfThreadsHandOffSideBySide() throws Exception {
        String text = "0123456789".repeat(20);
        ExecutorService threads = threads();
        List<Future<byte[]>> consumers = new ArrayList<>();
        List<Future<Void>> producers = new ArrayList<>();
        for (int pair = 0; pair < 200; pair++) {
            HandOff handOff = HandOff.create(7);
            consumers.add(threads.submit(() -> {
                try (InputStream in = handOff.inputStream()) {
                    return in.readAllBytes();
                }
            }));
            producers.add(threads.submit(() -> {
                try (handOff) {
                    write(handOff, text);
                    handOff.complete();
                    return null;
                }
            }));
        }
        for (Future<byte[]> consumer : consumers) {
            assertEquals(text, new String(consumer.get(1, TimeUnit.MINUTES), StandardCharsets.US_ASCII));
        }
        for (Future<Void> producer : producers) {
            producer.get(1, TimeUnit.MINUTES);
        }
        threads.shutdown();
        assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
    }
}
