package dev.sluice.bench.peer.bytebuf;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * A factory of leak detectors that count the records at level PARANOID. It must be installed before Netty's buffer classes are initialized, so each
 * count uses a separate {@link dev.sluice.bench.peer.NettyIsland}.
 */
public final class RecordCounter extends ResourceLeakDetectorFactory {
    private final LongAdder records = new LongAdder();

    private RecordCounter() {}

    /** Installs a counter and returns a supplier of the number of records so far. */
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
