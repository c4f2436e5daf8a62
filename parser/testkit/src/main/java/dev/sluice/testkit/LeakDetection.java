package dev.sluice.testkit;

import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import io.netty.util.ResourceLeakDetectorFactory;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Makes netty, 4.1 or 4.2, count every tracked buffer exactly, in every test run that has the test kit on its class
 * path: without sampling, and without waiting for the garbage collector.
 *
 * <p>netty asks for its leak detector when its first buffer class is loaded, so this is done when the launcher's
 * session opens, before a test class is.
 */
public final class LeakDetection implements LauncherSessionListener {
    private static final boolean STACKS = Boolean.getBoolean("sluice.leaks.stacks");
    private static final ThreadLocal<Mode> MODE = ThreadLocal.withInitial(() -> Mode.COUNTED);
    private static final AtomicLong RECORDED = new AtomicLong();
    private static volatile Scope scope = new Scope();

    /** How a buffer is tracked that is allocated now. */
    enum Mode {
        /** In the wrapper of the present level. */
        COUNTED,
        /** In a wrapper that tells of every access, as with netty's PARANOID. */
        RECORDED,
        /** Without a wrapper. */
        PLAIN
    }

    /** For the service loader. */
    public LeakDetection() {}

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        install();
    }

    /** Sets netty's factory of leak detectors; has no effect on buffer classes that are already loaded. */
    static void install() {
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @SuppressWarnings("deprecation") // the one method that has to be implemented
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(
                    Class<T> resource, int samplingInterval, long maxActive) {
                return detector(resource);
            }

            @Override
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int samplingInterval) {
                return detector(resource);
            }
        });
    }

    /** Netty 4.2 lets a detector make trackers of its own; 4.1 does not. */
    private static <T> ResourceLeakDetector<T> detector(Class<T> resource) {
        try {
            int track =
                    ResourceLeakDetector.class.getMethod("track", Object.class).getModifiers();
            return Modifier.isFinal(track)
                    ? TrackersOfNetty41.detector(resource)
                    : DetectorOfNetty42.detector(resource);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the leak detector of this version of netty cannot be made exact", e);
        }
    }

    /** Starts counting anew. {@return what is counted from now on} */
    static Scope begin() {
        Scope next = new Scope();
        scope = next;
        return next;
    }

    /** Runs {@code allocation} so that tracked buffers come in a certain wrapper, or in none. */
    static <T> T with(Mode mode, Supplier<T> allocation) {
        if (mode == Mode.RECORDED) {
            synchronized (LeakDetection.class) { // the level is one for all threads
                LeakLevel paranoid = LeakLevel.of(Level.PARANOID);
                try {
                    return allocation.get();
                } finally {
                    paranoid.close();
                }
            }
        }
        Mode before = MODE.get();
        MODE.set(mode);
        try {
            return allocation.get();
        } finally {
            MODE.set(before);
        }
    }

    /** {@return the buffer as it was asked for, which netty 4.1 has in a wrapper always} */
    static ByteBuf asAsked(ByteBuf buffer) {
        boolean isWrapped = buffer.getClass().getSimpleName().contains("LeakAware");
        return MODE.get() == Mode.PLAIN && isWrapped ? buffer.unwrap() : buffer;
    }

    /** {@return how many accesses to recorded buffers have been noted} */
    public static long recorded() {
        return RECORDED.get()
                + scope.open.stream().mapToLong(Tracked::unreported).sum();
    }

    /** {@return how many of the buffers allocated since the test began are not released} */
    public static int open() {
        return scope.open.size();
    }

    /** {@return the hints that these buffers were touched with} */
    public static List<String> hints() {
        return scope.open.stream().flatMap(buffer -> buffer.hints().stream()).toList();
    }

    /** The buffers of one test. One stays with the scope it was made in, whenever it is released. */
    static final class Scope {
        private final Set<Tracked> open = ConcurrentHashMap.newKeySet();

        boolean isEmpty() {
            return open.isEmpty();
        }

        /** A line for each buffer, and where it came from. */
        AssertionError failure() {
            AssertionError failure = new AssertionError("not released: " + open);
            open.forEach(buffer -> {
                if (buffer.made != null) {
                    failure.addSuppressed(buffer.made);
                }
            });
            return failure;
        }
    }

    /** A buffer that is not released; {@link Mode#PLAIN} leaves those that it makes to the allocators of {@link BufferKind}. */
    abstract static class Tracked {
        private final Scope home = scope;
        private final @Nullable Throwable made = STACKS ? new Throwable("made here") : null;

        final void opened() {
            home.open.add(this);
        }

        final boolean closed() {
            RECORDED.addAndGet(unreported());
            return home.open.remove(this);
        }

        final void recorded() {
            RECORDED.incrementAndGet();
        }

        static boolean isWanted() {
            return MODE.get() != Mode.PLAIN;
        }

        abstract List<String> hints();

        /** The records that {@link #RECORDED} does not have. */
        abstract long unreported();

        @Override
        public final String toString() {
            return "buffer" + hints();
        }
    }
}
