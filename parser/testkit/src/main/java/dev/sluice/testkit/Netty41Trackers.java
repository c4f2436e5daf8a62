package dev.sluice.testkit;

import dev.sluice.testkit.LeakDetection.Tracked;
import io.netty.util.ResourceLeakDetector;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A replacement for the set in which the leak detector of Netty 4.1 keeps the trackers of unreleased buffers. In contrast to Netty 4.2, a
 * detector cannot create its own trackers. The tracker of an unreleased buffer stays in the set after the garbage collector has
 * removed the buffer.
 */
final class Netty41Trackers extends AbstractSet<Object> {
    private final Map<Object, Tracker> open = new ConcurrentHashMap<>();

    private Netty41Trackers() {}

    /** {@return a detector that tracks every buffer} */
    static <T> ResourceLeakDetector<T> detector(Class<T> resource) throws ReflectiveOperationException {
        ResourceLeakDetector<T> detector = new ResourceLeakDetector<>(resource, 1);
        field(ResourceLeakDetector.class, "allLeaks").set(detector, new Netty41Trackers());
        return detector;
    }

    @Override
    public boolean add(Object tracker) {
        if (Tracked.isWanted()) {
            Tracker counted = new Tracker(tracker);
            open.put(tracker, counted);
            counted.opened();
        }
        return true;
    }

    @Override
    public boolean remove(Object tracker) {
        if (((Reference<?>) tracker).get() == null) {
            return false;
        }
        Tracker counted = open.remove(tracker);
        return counted != null && counted.closed();
    }

    @Override
    public Iterator<Object> iterator() {
        return open.keySet().iterator();
    }

    @Override
    public int size() {
        return open.size();
    }

    private static final class Tracker extends Tracked {
        private final Object tracker;

        Tracker(Object tracker) {
            this.tracker = tracker;
        }

        @Override
        List<String> hints() {
            List<String> hints = new ArrayList<>();
            Object record = read(tracker, "head");
            while (record != null && number(record, "pos") >= 0) { // the chain ends with a marker at -1
                Object hint = read(record, "hintString");
                if (hint != null) {
                    hints.add(0, hint.toString());
                }
                record = read(record, "next");
            }
            return hints;
        }

        /**
         * Returns the number of recorded accesses, including dropped ones. The newest record holds the number of records before it, so the
         * first record, the allocation, is not counted.
         */
        @Override
        long unreported() {
            Object newest = read(tracker, "head");
            return newest == null ? 0 : number(newest, "pos") + number(tracker, "droppedRecords");
        }
    }

    private static int number(Object owner, String name) {
        return (Integer) Objects.requireNonNull(read(owner, name));
    }

    private static @Nullable Object read(Object owner, String name) {
        try {
            return field(owner.getClass(), name).get(owner);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
        boolean isRecordOfNothing = owner.isAnonymousClass();
        Field field = (isRecordOfNothing ? owner.getSuperclass() : owner).getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
