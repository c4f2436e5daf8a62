package dev.sluice.form;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Whether a {@link PartSink} takes more now. A sink that is done when it returns answers {@link #READY}. One that is not
 * answers a {@link #pending()} one, keeps it, and calls {@link #ready()} or {@link #fail} once; no thread waits meanwhile.
 *
 * <p>Thread-safe. It may become ready on any thread, also before the call that hands it out has returned.
 */
public final class Readiness {
    private static final Object DONE = new Object();

    /** Go on. */
    public static final Readiness READY = new Readiness(DONE);

    /** Null, a listener, {@link #DONE} or a failure. */
    private final AtomicReference<@Nullable Object> state;

    private Readiness(@Nullable Object state) {
        this.state = new AtomicReference<>(state);
    }

    /** {@return one that is not ready yet} */
    public static Readiness pending() {
        return new Readiness(null);
    }

    /** {@return ready once both are; failed as soon as one fails} */
    public static Readiness both(Readiness first, Readiness second) {
        if (first == second) {
            return first;
        }
        if (first.isReady()) {
            return first.failure() == null ? second : first;
        }
        Readiness both = pending();
        AtomicInteger left = new AtomicInteger(2);
        for (Readiness each : List.of(first, second)) {
            each.whenReady(() -> {
                Throwable failure = each.failure();
                if (failure != null) {
                    both.fail(failure);
                } else if (left.decrementAndGet() == 0) {
                    both.ready();
                }
            });
        }
        return both;
    }

    /** {@return whether the sink takes more, or has failed} */
    public boolean isReady() {
        return this == READY || isSettled(state.get());
    }

    /** Says that the sink takes more. Does nothing the second time. */
    public void ready() {
        settle(DONE);
    }

    /** Says that the sink has failed, and the form with it. Does nothing where it was ready before. */
    public void fail(Throwable cause) {
        settle(Objects.requireNonNull(cause, "cause"));
    }

    private static boolean isSettled(@Nullable Object now) {
        return now == DONE || now instanceof Throwable;
    }

    private void settle(Object outcome) {
        Object before = state.get();
        while (!isSettled(before)) {
            if (state.compareAndSet(before, outcome)) {
                if (before instanceof Runnable listener) {
                    listener.run();
                }
                return;
            }
            before = state.get();
        }
    }

    /**
     * Calls {@code listener} once, when it is ready or has failed: on the thread that says so, or on this one if that
     * was before. Be quick, and never call the sink from it.
     *
     * @throws IllegalStateException if there is a listener
     */
    public void whenReady(Runnable listener) {
        if (!state.compareAndSet(null, listener)) {
            if (!isReady()) {
                throw new IllegalStateException("there is a listener: one readiness has one");
            }
            listener.run();
        }
    }

    /** {@return why the sink has failed, or null} */
    public @Nullable Throwable failure() {
        return state.get() instanceof Throwable failure ? failure : null;
    }

    /**
     * {@return whether the sink takes more}
     *
     * @throws IOException if the sink has failed: its failure, or an exception with the failure as its cause
     */
    public boolean checkReady() throws IOException {
        if (!isReady()) {
            return false;
        }
        Throwable failure = this == READY ? null : failure();
        if (failure != null) {
            throw thrown(failure);
        }
        return true;
    }

    /** {@return what to throw for {@code failure}: itself where that is possible, and at once where it is unchecked} */
    static IOException thrown(Throwable failure) {
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        } else if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof IOException io ? io : new IOException(failure.getMessage(), failure);
    }
}
