package dev.sluice.testkit;

import dev.sluice.testkit.LeakDetection.Tracked;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakHint;
import io.netty.util.ResourceLeakTracker;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A leak detector with counting trackers. It must not be loaded with netty 4.1, where {@code track} is final. */
final class Netty42LeakDetector<T> extends ResourceLeakDetector<T> {
    private Netty42LeakDetector(Class<?> resource) {
        super(resource, 1);
    }

    /** {@return a detector that tracks every buffer} */
    static <T> ResourceLeakDetector<T> detector(Class<T> resource) {
        return new Netty42LeakDetector<>(resource);
    }

    @Override
    public @Nullable ResourceLeakTracker<T> track(T resource) {
        return Tracked.isWanted() && getLevel() != Level.DISABLED ? trackForcibly(resource) : null;
    }

    @Override
    public ResourceLeakTracker<T> trackForcibly(T resource) {
        Tracker<T> tracker = new Tracker<>();
        tracker.opened();
        return tracker;
    }

    /** Counts the records that netty would store with a stack trace. */
    private static final class Tracker<T> extends Tracked implements ResourceLeakTracker<T> {
        private final List<String> hints = new CopyOnWriteArrayList<>();

        @Override
        public void record() {
            recorded();
        }

        @Override
        public void record(Object hint) {
            recorded();
            hints.add(hint instanceof ResourceLeakHint named ? named.toHintString() : hint.toString());
        }

        @Override
        public boolean close(T resource) {
            return closed();
        }

        @Override
        List<String> hints() {
            return hints;
        }

        @Override
        long unreported() {
            return 0;
        }
    }
}
