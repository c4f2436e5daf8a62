package dev.sluice.concurrency;

import dev.sluice.form.HandOff;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Callable;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Test;

/** A part that passes from one thread to another: schedules tried one by one; one that hangs is a failure too. */
class HandOffTest {
    private static final byte[] PART = {1, 2, 3};
    private static final int SCHEDULES = 60;

    private enum End {
        WHOLE,
        FAILED
    }

    /** One hand-off through a ring of one byte or two, and how it ended for either side. */
    private static final class Transfer {
        private final HandOff handOff;
        private End written = End.FAILED;
        private End read = End.FAILED;
        private int count;

        Transfer(int capacity) {
            this.handOff = HandOff.create(capacity);
        }

        Void write() {
            try {
                handOff.write(Unpooled.wrappedBuffer(PART));
                handOff.complete();
                written = End.WHOLE;
            } catch (IOException | IllegalStateException e) {
                written = End.FAILED;
            } finally {
                handOff.close();
            }
            return null;
        }

        /** Reads until the end, or until so many bytes. */
        Void read(int most) {
            try (InputStream in = handOff.inputStream()) {
                while (count < most) {
                    int b = in.read();
                    if (b < 0) {
                        read = End.WHOLE;
                        return null;
                    }
                    if (b != PART[count]) {
                        throw new AssertionError("byte " + count + " is " + b);
                    }
                    count++;
                }
            } catch (IOException e) {
                read = End.FAILED;
            }
            return null;
        }

        Void cancel() {
            handOff.close();
            return null;
        }

        void require(boolean condition) {
            if (!condition) {
                throw new AssertionError("written " + written + ", read " + read + " after " + count);
            }
        }
    }

    @Test
    void everyByteArrivesOnceAndInOrderAndThenTheEnd() {
        Lincheck.runConcurrentTest(Race.times(SCHEDULES), () -> {
            Transfer transfer = new Transfer(2);
            Race.explore(transfer::write, () -> transfer.read(Integer.MAX_VALUE));
            transfer.require(transfer.written == End.WHOLE && transfer.read == End.WHOLE && transfer.count == 3);
        });
    }

    @Test
    void aPartThatIsCancelledMeanwhileIsEitherWholeForBothSidesOrForNeither() {
        Lincheck.runConcurrentTest(Race.times(SCHEDULES), () -> {
            Transfer transfer = new Transfer(2);
            Callable<Void> reader = () -> transfer.read(Integer.MAX_VALUE);
            Race.explore(transfer::write, reader, transfer::cancel);
            transfer.require(transfer.written == transfer.read);
            transfer.require(transfer.read == End.FAILED || transfer.count == 3);
        });
    }

    @Test
    void aReaderThatLeavesFreesAWriterThatWaits() {
        Lincheck.runConcurrentTest(Race.times(SCHEDULES), () -> {
            Transfer transfer = new Transfer(1);
            Race.explore(transfer::write, () -> transfer.read(1));
            transfer.require(transfer.count == 1 && transfer.read == End.FAILED);
            transfer.require(transfer.written == End.FAILED); // three bytes do not fit, and one was read
        });
    }
}
