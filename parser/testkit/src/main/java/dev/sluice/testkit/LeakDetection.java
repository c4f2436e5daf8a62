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
 * A listener that makes netty 4.1 or 4.2 count every tracked buffer exactly, without sampling and without waiting for
 * the garbage collector. It runs in every test run with the test kit on its class path.
 *
 * <p>netty looks up its leak detector when its first buffer class is loaded. This listener therefore installs its
 * detector when JUnit's launcher session opens, before any test class is loaded.
 */
public final class LeakDetection implements LauncherSessionListener {
    private static final boolean STACKS = Boolean.getBoolean("sluice.leaks.stacks");
    private static final ThreadLocal<Mode> MODE = ThreadLocal.withInitial(() -> Mode.COUNTED);
    private static final AtomicLong RECORDED = new AtomicLong();
    private static volatile Scope scope = new Scope();

    /** How a newly allocated buffer is tracked. */
    enum Mode {
        /** In the wrapper that netty uses at the current detection level. */
        COUNTED,
        /** In a wrapper that records every access, as at netty's level PARANOID. */
        RECORDED,
        /** Without a wrapper. */
        PLAIN
    }

    public LeakDetection() {}

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        install();
    }

    /** Sets netty's factory of leak detectors. Buffer classes that are already loaded are not affected. */
    static void install() {
        ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
            @Override
            @SuppressWarnings("deprecation") // the only abstract method is deprecated
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

    /** Netty 4.2 lets a detector create its own trackers; 4.1 does not. */
    private static <T> ResourceLeakDetector<T> detector(Class<T> resource) {
        try {
            int track =
                    ResourceLeakDetector.class.getMethod("track", Object.class).getModifiers();
            return Modifier.isFinal(track)
                    ? Netty41Trackers.detector(resource)
                    : Netty42LeakDetector.detector(resource);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("leaks cannot be counted exactly with this version of netty", e);
        }
    }

    /** {@return a new scope, which counts all buffers from now on} */
    static Scope begin() {
        Scope next = new Scope();
        scope = next;
        return next;
    }

    /** Runs {@code allocation} so that tracked buffers are wrapped as {@code mode} says. */
    static <T> T with(Mode mode, Supplier<T> allocation) {
        if (mode == Mode.RECORDED) {
            synchronized (LeakDetection.class) { // the level is global, for all threads
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

    /** {@return the buffer; in the mode PLAIN, without the wrapper that netty 4.1 always adds} */
    static ByteBuf withoutWrapperIfPlain(ByteBuf buffer) {
        boolean isWrapped = buffer.getClass().getSimpleName().contains("LeakAware");
        return MODE.get() == Mode.PLAIN && isWrapped ? buffer.unwrap() : buffer;
    }

    /** {@return the number of recorded accesses} */
    public static long recorded() {
        return RECORDED.get()
                + scope.open.stream().mapToLong(Tracked::unreported).sum();
    }

    /** {@return the number of unreleased tracked buffers that were allocated since the test began} */
    public static int open() {
        return scope.open.size();
    }

    /** {@return the hints that {@code touch} has recorded on unreleased buffers} */
    public static List<String> hints() {
        return scope.open.stream().flatMap(buffer -> buffer.hints().stream()).toList();
    }

    /** The buffers of one test. A buffer belongs to the test that allocated it, even if it is released later. */
    static final class Scope {
        private final Set<Tracked> open = ConcurrentHashMap.newKeySet();

        boolean isEmpty() {
            return open.isEmpty();
        }

        /**
         * {@return an error that lists the unreleased buffers} Stack traces of their allocations are suppressed
         * exceptions.
         */
        AssertionError failure() {
            AssertionError failure = new AssertionError("buffers were not released: " + open);
            open.forEach(buffer -> {
                if (buffer.made != null) {
                    failure.addSuppressed(buffer.made);
                }
            });
            return failure;
        }
    }

    /**
     * A tracked buffer. Buffers of {@link Mode#PLAIN} are not tracked: the allocators of {@link BufferKind} count them.
     */
    abstract static class Tracked {
        private final Scope home = scope;
        private final @Nullable Throwable made = STACKS ? new Throwable("allocated here") : null;

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

        /** Returns the number of records that {@link #RECORDED} does not include. */
        abstract long unreported();

        @Override
        public final String toString() {
            return "buffer" + hints();
        }
    }
}
