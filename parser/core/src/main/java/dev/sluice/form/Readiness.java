package dev.sluice.form;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The state of a sink or an admission after a call: ready for the next call, not ready yet, or failed.
 *
 * <p>If a sink has finished the work of a call, it returns {@link #READY}. Otherwise it returns a {@linkplain
 * #pending() pending} readiness, keeps a reference to it, and calls {@link #ready()} or {@link #fail} when the work is
 * finished. No thread waits in the meantime.
 *
 * <p>Thread-safe. Any thread may call {@link #ready()} or {@link #fail}, even before the method of the sink has
 * returned.
 */
public final class Readiness {
    private static final Object DONE = new Object();

    /** The readiness of a sink that is ready now. */
    public static final Readiness READY = new Readiness(DONE);

    /** While pending, the listener, or null if there is none; afterwards, {@link #DONE} or the failure. */
    private final AtomicReference<@Nullable Object> state;

    private Readiness(@Nullable Object state) {
        this.state = new AtomicReference<>(state);
    }

    /** {@return a new readiness that is not ready yet} */
    public static Readiness pending() {
        return new Readiness(null);
    }

    /** {@return a readiness that is ready when both are ready, and fails as soon as one of them fails} */
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

    /** {@return whether the sink is ready or has failed} */
    public boolean isReady() {
        return this == READY || isSettled(state.get());
    }

    /** Marks the sink as ready. Has no effect if it is already ready or has failed. */
    public void ready() {
        settle(DONE);
    }

    /**
     * Marks the sink as failed, which fails the form. Has no effect if it is already ready or has failed.
     *
     * @param cause the failure. A {@link CompletionException} is replaced by its own cause, so that a failed stage can be passed on
     */
    public void fail(Throwable cause) {
        Throwable inner = cause instanceof CompletionException ? cause.getCause() : null;
        settle(inner == null ? Objects.requireNonNull(cause, "cause") : inner);
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
     * Calls {@code listener} once: on the thread that calls {@link #ready()} or {@link #fail}, or on the current thread
     * if the sink is already ready or has failed. The listener must return quickly and must not call the sink.
     *
     * @throws IllegalStateException if a listener is already registered
     */
    public void whenReady(Runnable listener) {
        if (!state.compareAndSet(null, listener)) {
            if (!isReady()) {
                throw new IllegalStateException("a listener is already registered");
            }
            listener.run();
        }
    }

    /** {@return the exception with which the sink has failed, or null} */
    public @Nullable Throwable failure() {
        return state.get() instanceof Throwable failure ? failure : null;
    }

    /**
     * {@return whether the sink is ready}
     *
     * @throws IOException if the sink has failed. An {@code IOException} or unchecked failure is thrown unchanged, and
     *     any other failure is the cause of a new exception
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

    /**
     * {@return {@code failure} as an {@link IOException}, wrapped if necessary} Throws it directly if it is unchecked.
     */
    static IOException thrown(Throwable failure) {
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        } else if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof IOException io ? io : new IOException(failure.getMessage(), failure);
    }
}
