package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.ReportedDeviation;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The intake with a sink that stalls or fails. */
@Timeout(20)
class BodyIntakeTest {
    private static final int CHUNK = 64 << 10;

    private final EventExecutor loop = new DefaultEventExecutor();
    private final EventExecutor worker = new DefaultEventExecutor();
    private final ServerMetrics metrics = new ServerMetrics(PooledByteBufAllocator.DEFAULT);
    private final List<ByteBuf> chunks = new ArrayList<>();
    private final CompletableFuture<@Nullable ErrorAnswer> ended = new CompletableFuture<>();
    private final CountDownLatch ready = new CountDownLatch(1);

    /** Does with data what it is told to. */
    private static final class TestSink implements PartSink {
        final CountDownLatch go = new CountDownLatch(1);
        final CountDownLatch closed = new CountDownLatch(1);
        volatile boolean broken;
        volatile boolean dying;
        volatile long written;
        volatile @Nullable String finishedBy;

        @Override
        public void begin(PartHead head) {}

        @Override
        public void data(ByteBuf data) throws IOException {
            try {
                go.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            if (dying) {
                throw new NoClassDefFoundError("as when the memory or the classes run out");
            }
            if (broken) {
                throw new IOException("no space left on device");
            }
            written += data.readableBytes();
        }

        @Override
        public void end() {}

        @Override
        public Object finish(long bodySize, List<ReportedDeviation> deviations) {
            finishedBy = Thread.currentThread().getName();
            return "finished";
        }

        @Override
        public Object refuse(ErrorAnswer error, List<ReportedDeviation> deviations) {
            return "refused";
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }

    private BodyIntake intake(TestSink sink) {
        BodyIntake.Listener listener = new BodyIntake.Listener() {
            @Override
            public void ready() {
                ready.countDown();
            }

            @Override
            public void ended(@Nullable ErrorAnswer error, Object answer) {
                ended.complete(error);
            }
        };
        return new BodyIntake(
                Boundary.of(TestForm.BOUNDARY), MultipartOptions.defaults(), sink, loop, worker, metrics, listener);
    }

    private <T> T onLoop(Callable<T> task) throws Exception {
        return loop.submit(task).get(10, TimeUnit.SECONDS);
    }

    private boolean offer(BodyIntake intake, byte[] bytes) throws Exception {
        ByteBuf chunk =
                PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
        chunks.add(chunk);
        return onLoop(() -> {
            intake.offer(chunk);
            return intake.isReady();
        });
    }

    private long offerUntilFull(BodyIntake intake) throws Exception {
        boolean goesOn =
                offer(intake, new TestForm().file("f", "x", new byte[0]).open());
        for (int i = 0; i < 1000 && goesOn; i++) {
            goesOn = offer(intake, new byte[CHUNK]);
        }
        assertFalse(goesOn);
        return (chunks.size() - 1L) * CHUNK;
    }

    @AfterEach
    void everyBufferIsReleasedAndNothingIsCountedAsInFlight() throws Exception {
        worker.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        loop.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        for (ByteBuf chunk : chunks) {
            assertEquals(0, chunk.refCnt());
        }
        assertTrue(metrics.scrape().contains("sluice_bytes_in_flight 0.0"));
        metrics.close();
    }

    @Test
    void asksForNoMoreThanABoundWhileTheSinkStallsAndGoesOnAfterwards() throws Exception {
        TestSink sink = new TestSink();
        BodyIntake intake = intake(sink);
        long offered = offerUntilFull(intake);
        assertTrue(offered <= (1 << 20) + 2 * CHUNK, () -> offered + " bytes in flight");

        sink.go.countDown();
        assertTrue(ready.await(10, TimeUnit.SECONDS));
        onLoop(() -> {
            intake.abort();
            return true;
        });
        assertTrue(sink.closed.await(10, TimeUnit.SECONDS));
    }

    @Test
    void anAbortWhileTheSinkStallsReleasesEverythingAndWritesNothingMore() throws Exception {
        TestSink sink = new TestSink();
        BodyIntake intake = intake(sink);
        offerUntilFull(intake);
        onLoop(() -> {
            intake.abort();
            return true;
        });
        sink.go.countDown();

        assertTrue(sink.closed.await(10, TimeUnit.SECONDS));
        assertTrue(sink.written <= CHUNK);
        assertNull(sink.finishedBy);
        assertFalse(ended.isDone());
    }

    @Test
    void aSinkThatFailsEndsTheBodyAndIsClosed() throws Exception {
        TestSink sink = new TestSink();
        sink.broken = true;
        BodyIntake intake = intake(sink);
        offerUntilFull(intake);
        sink.go.countDown();

        ErrorAnswer error = ended.get(10, TimeUnit.SECONDS);
        assertNotNull(error);
        assertEquals("STORAGE_FAILED", error.reason());
        assertEquals(500, error.status());
        assertTrue(sink.closed.await(10, TimeUnit.SECONDS));
        assertTrue(onLoop(intake::isOver));
    }

    @Test
    void aSinkThatThrowsAnErrorDoesNotEndItsWorker() throws Exception {
        TestSink dying = new TestSink();
        dying.dying = true;
        dying.go.countDown();
        BodyIntake first = intake(dying);
        offer(first, new TestForm().file("f", "x", new byte[1000]).body());

        ErrorAnswer error = ended.get(10, TimeUnit.SECONDS);
        assertNotNull(error);
        assertEquals("STORAGE_FAILED", error.reason());
        assertTrue(dying.closed.await(10, TimeUnit.SECONDS));

        TestSink good = new TestSink();
        good.go.countDown();
        BodyIntake second = intake(good);
        offer(second, new TestForm().file("f", "x", new byte[1000]).body());
        onLoop(() -> {
            second.finish();
            return true;
        });
        assertTrue(good.closed.await(10, TimeUnit.SECONDS));
        assertEquals(1000, good.written);
        assertNotNull(good.finishedBy);
    }

    @Test
    void aWorkerThatIsGoneFailsTheBodyAndLeaksNothing() throws Exception {
        worker.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        TestSink sink = new TestSink();
        BodyIntake intake = intake(sink);
        offer(intake, new TestForm().file("f", "x", new byte[1000]).body());

        ErrorAnswer error = ended.get(10, TimeUnit.SECONDS);
        assertNotNull(error);
        assertEquals(500, error.status());
        assertTrue(sink.closed.await(10, TimeUnit.SECONDS));
        onLoop(() -> {
            intake.abort();
            return true;
        });
    }

    @Test
    void aGoodBodyIsFinishedOnTheWorker() throws Exception {
        TestSink sink = new TestSink();
        sink.go.countDown();
        BodyIntake intake = intake(sink);
        offer(intake, new TestForm().file("f", "x", new byte[1000]).body());
        onLoop(() -> {
            intake.finish();
            return true;
        });

        assertNull(ended.get(10, TimeUnit.SECONDS));
        assertEquals(1000, sink.written);
        assertNotNull(sink.finishedBy);
        assertFalse(sink.finishedBy.equals(onLoop(() -> Thread.currentThread().getName())));
        assertTrue(sink.closed.await(10, TimeUnit.SECONDS));
    }

    @Test
    void aBadBodyIsRefusedAfterWhatCameBeforeTheFault() throws Exception {
        TestSink sink = new TestSink();
        sink.go.countDown();
        BodyIntake intake = intake(sink);
        offer(
                intake,
                new TestForm()
                        .file("f", "x", new byte[1000])
                        .part("Broken", new byte[0])
                        .body());

        ErrorAnswer error = ended.get(10, TimeUnit.SECONDS);
        assertNotNull(error);
        assertEquals("MALFORMED_HEADER", error.reason());
        assertEquals(1, error.part());
        assertEquals(1000, sink.written);
        assertNull(sink.finishedBy);
        assertTrue(sink.closed.await(10, TimeUnit.SECONDS));
    }
}
