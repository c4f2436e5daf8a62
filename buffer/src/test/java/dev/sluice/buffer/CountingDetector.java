package dev.sluice.buffer;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakHint;
import io.netty.util.ResourceLeakTracker;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Netty's leak detector with the sampling and the garbage collector taken out: knows at any moment what is open and
 * what was recorded.
 */
public final class CountingDetector<T> extends ResourceLeakDetector<T> {
    private static final AtomicLong RECORDS = new AtomicLong();
    private static final Set<Tracker<?>> OPEN = ConcurrentHashMap.newKeySet();

    public CountingDetector(Class<?> type, int samplingInterval) {
        super(type, samplingInterval);
    }

    /** The form netty looks for first. */
    public CountingDetector(Class<?> type, int samplingInterval, long maxActive) {
        this(type, samplingInterval);
    }

    static long records() {
        return RECORDS.get();
    }

    static int open() {
        return OPEN.size();
    }

    static void forgetAll() {
        OPEN.clear();
    }

    /** The hints of everything that is open. */
    static List<String> hints() {
        List<String> hints = new ArrayList<>();
        OPEN.forEach(tracker -> hints.addAll(tracker.hints));
        return hints;
    }

    @Override
    public ResourceLeakTracker<T> track(T resource) {
        return getLevel() == Level.DISABLED ? null : trackForcibly(resource);
    }

    @Override
    public ResourceLeakTracker<T> trackForcibly(T resource) {
        Tracker<T> tracker = new Tracker<>();
        OPEN.add(tracker);
        return tracker;
    }

    private static final class Tracker<T> implements ResourceLeakTracker<T> {
        private final List<String> hints = new ArrayList<>();

        @Override
        public void record() {
            RECORDS.incrementAndGet();
        }

        @Override
        public void record(Object hint) {
            RECORDS.incrementAndGet();
            hints.add(hint instanceof ResourceLeakHint named ? named.toHintString() : String.valueOf(hint));
        }

        @Override
        public boolean close(T resource) {
            return OPEN.remove(this);
        }
    }
}
