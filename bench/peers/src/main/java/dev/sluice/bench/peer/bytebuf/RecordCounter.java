package dev.sluice.bench.peer.bytebuf;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts the records that leak detection makes at PARANOID, exactly. Must be installed before netty's buffer classes are
 * initialised, which is why each count runs on a {@link dev.sluice.bench.peer.NettyIsland} of its own.
 */
public final class RecordCounter extends ResourceLeakDetectorFactory {
    private final LongAdder records = new LongAdder();

    private RecordCounter() {}

    /** Installs a counter in this netty and gives back its reading: records made since the start. */
    public static LongSupplier install() {
        RecordCounter counter = new RecordCounter();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        setResourceLeakDetectorFactory(counter);
        return counter.records::sum;
    }

    @Override
    @Deprecated
    public <T> ResourceLeakDetector<T> newResourceLeakDetector(
            Class<T> resource, int samplingInterval, long maxActive) {
        return new ResourceLeakDetector<>(resource, samplingInterval) {
            @Override
            public ResourceLeakTracker<T> track(T tracked) {
                return new Tracker<>(records);
            }

            @Override
            public ResourceLeakTracker<T> trackForcibly(T tracked) {
                return new Tracker<>(records);
            }
        };
    }

    private record Tracker<T>(LongAdder records) implements ResourceLeakTracker<T> {
        @Override
        public void record() {
            records.increment();
        }

        @Override
        public void record(Object hint) {
            records.increment();
        }

        @Override
        public boolean close(T resource) {
            return true;
        }
    }
}
