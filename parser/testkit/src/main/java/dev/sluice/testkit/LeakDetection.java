package dev.sluice.testkit;

import io.netty.util.LeakPresenceDetector;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Makes netty count every tracked buffer exactly, in every test run that has the test kit on its class path.
 *
 * <p>netty asks for its leak detector when its first buffer class is loaded, so this is done when the launcher's
 * session opens, before a test class is.
 */
public final class LeakDetection implements LauncherSessionListener {
    private static final ThreadLocal<Mode> MODE = ThreadLocal.withInitial(() -> Mode.COUNTED);
    private static final AtomicLong RECORDED = new AtomicLong();
    private static volatile LeakPresenceDetector.ResourceScope scope =
            new LeakPresenceDetector.ResourceScope("outside of tests");

    /** How a buffer is tracked that is allocated now. */
    enum Mode {
        /** In a wrapper that tells of its release. */
        COUNTED,
        /** In a wrapper that tells of every access as well, as with netty's PARANOID. */
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
                return new Detector<>(resource);
            }

            @Override
            public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int samplingInterval) {
                return new Detector<>(resource);
            }
        });
    }

    /** Starts counting anew. {@return the scope that counts from now on} */
    static LeakPresenceDetector.ResourceScope begin(String name) {
        LeakPresenceDetector.ResourceScope next = new LeakPresenceDetector.ResourceScope(name);
        scope = next;
        return next;
    }

    /** Runs {@code allocation} so that tracked buffers come in a certain wrapper, or in none. */
    static <T> T with(Mode mode, Supplier<T> allocation) {
        Mode before = MODE.get();
        MODE.set(mode);
        try {
            return allocation.get();
        } finally {
            MODE.set(before);
        }
    }

    /** {@return how many accesses to recorded buffers have been noted} */
    static long recorded() {
        return RECORDED.get();
    }

    /** Counts all buffers but those that are counted by their allocators. */
    private static final class Detector<T> extends ResourceLeakDetector<T> {
        private final LeakPresenceDetector<T> presence;

        Detector(Class<?> resource) {
            super(resource, 1);
            presence = new LeakPresenceDetector<>(resource) {
                @Override
                protected ResourceScope currentScope() {
                    return scope;
                }
            };
        }

        @Override
        public @Nullable ResourceLeakTracker<T> track(T resource) {
            return switch (MODE.get()) {
                case COUNTED -> presence.track(resource);
                case RECORDED -> new Recording<>(presence.trackForcibly(resource));
                case PLAIN -> null;
            };
        }

        @Override
        public ResourceLeakTracker<T> trackForcibly(T resource) {
            return presence.trackForcibly(resource);
        }

        @Override
        public boolean isRecordEnabled() {
            return MODE.get() == Mode.RECORDED;
        }
    }

    /** Counts what netty would write down with a stack trace. */
    private record Recording<T>(ResourceLeakTracker<T> presence) implements ResourceLeakTracker<T> {
        @Override
        public void record() {
            RECORDED.incrementAndGet();
        }

        @Override
        public void record(Object hint) {
            RECORDED.incrementAndGet();
        }

        @Override
        public boolean close(T resource) {
            return presence.close(resource);
        }
    }
}
