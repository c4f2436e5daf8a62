package dev.sluice.testkit;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import java.util.Objects;

/**
 * A scope in which netty's leak detection runs at a chosen level. Closing it restores the previous level. The level is
 * global, so scopes must nest and must not overlap between threads.
 */
public final class LeakLevel implements AutoCloseable {
    private final Level before;
    private boolean closed;

    private LeakLevel(Level before) {
        this.before = before;
    }

    /** {@return a scope with detection at {@code level} until it is closed} */
    public static LeakLevel of(Level level) {
        Objects.requireNonNull(level);
        LeakLevel scope = new LeakLevel(ResourceLeakDetector.getLevel());
        ResourceLeakDetector.setLevel(level);
        return scope;
    }

    /** Restores the level that was set when the scope was opened. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            ResourceLeakDetector.setLevel(before);
        }
    }
}
