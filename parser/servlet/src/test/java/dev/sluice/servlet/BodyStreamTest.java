package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class BodyStreamTest {
    @Test
    void pauseBetweenReads_doesNotCountAgainstClient() throws Exception {
        FormOptions paced = FormOptions.inMemory(MemoryBudget.unlimited())
                .minBytesPerSecond(1_000_000)
                .minRateGrace(Duration.ofSeconds(2))
                .build();
        try (BodyStream in = new BodyStream(() -> new ByteArrayInputStream(new byte[2]), () -> false, paced)) {
            assertEquals(0, in.read());
            Thread.sleep(2_500);
            assertEquals(0, in.read());
        }
    }

    /** The container may already have given its buffer to the next request. */
    @Test
    void bytesRead_whileRequestEnds_areNotUsed() throws IOException {
        AtomicBoolean ended = new AtomicBoolean();
        InputStream next = new ByteArrayInputStream(new byte[5]) {
            @Override
            public int read(byte[] target, int offset, int length) {
                ended.set(true);
                return super.read(target, offset, length);
            }
        };
        try (BodyStream in = new BodyStream(() -> next, ended::get, null)) {
            IOException failure = assertThrows(IOException.class, () -> in.read(new byte[5], 0, 5));
            assertTrue(in.isClientFailure(failure));
            assertEquals(0, in.count());
        }
    }

    @Test
    void available_brokenConnection_isClientFailure() throws IOException {
        InputStream broken = new InputStream() {
            @Override
            public int read() {
                return 0;
            }

            @Override
            public int available() throws IOException {
                throw new IOException("the connection was lost");
            }
        };
        try (BodyStream in = new BodyStream(() -> broken, () -> false, null)) {
            IOException failure = assertThrows(IOException.class, in::available);
            assertTrue(in.isClientFailure(failure));
        }
    }

    @Test
    void read_interruptOfApplication_remains() throws IOException {
        try (BodyStream in = new BodyStream(() -> new ByteArrayInputStream(new byte[1]), () -> false, null)) {
            Thread.currentThread().interrupt();
            assertEquals(0, in.read());
            assertTrue(Thread.interrupted());
        }
    }

    /** An interrupt that remains would end the next blocking call of the container's thread. */
    @Test
    void shutDown_whileReading_leavesNoInterrupt() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        InputStream silent = new InputStream() {
            @Override
            public int read() throws IOException {
                reading.countDown();
                while (!Thread.currentThread().isInterrupted()) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                }
                throw new IOException("interrupted");
            }
        };
        try (BodyStream in = new BodyStream(() -> silent, () -> false, null)) {
            CompletableFuture<Boolean> interrupted = CompletableFuture.supplyAsync(() -> {
                assertThrows(IOException.class, () -> in.read(new byte[1], 0, 1));
                return Thread.interrupted();
            });
            assertTrue(reading.await(1, TimeUnit.MINUTES));
            in.shutDown();
            assertFalse(interrupted.get(1, TimeUnit.MINUTES));
        }
    }
}
