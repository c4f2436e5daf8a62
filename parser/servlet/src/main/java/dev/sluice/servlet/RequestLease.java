package dev.sluice.servlet;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The reference count of the resources of one request. The request itself holds one reference until it ends. The
 * parsing thread, each worker of {@code AsyncContext.start} and each {@link MultipartRequests.Hold} hold another. The
 * last release runs {@code onEnd}.
 *
 * <p>A worker that has not begun within a grace period after the end of the request loses its reference, because the
 * container may have discarded the worker, as Jetty does.
 */
final class RequestLease {
    /** The time in which the container should start a worker, dispatch a request or report the end of a request. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private final FormTimer timer;
    private final Runnable onEnd;
    private final AtomicInteger holds = new AtomicInteger(1);
    private final AtomicBoolean requestEnded = new AtomicBoolean();

    /** Workers that have not begun. */
    private final Set<Worker> pendingWorkers = ConcurrentHashMap.newKeySet();

    /** @param onEnd runs once, when the last reference is released */
    RequestLease(FormTimer timer, Runnable onEnd) {
        this.timer = timer;
        this.onEnd = onEnd;
    }

    /** Adds a reference, which {@link #release()} removes. */
    void hold() {
        for (; ; ) {
            int now = holds.get();
            checkNotEnded();
            if (now > 0 && holds.compareAndSet(now, now + 1)) {
                return;
            }
        }
    }

    void release() {
        if (holds.decrementAndGet() == 0) {
            onEnd.run();
        }
    }

    boolean hasEnded() {
        return holds.get() <= 0;
    }

    /** {@return whether the container has finished with the request, even if references remain} */
    boolean hasRequestEnded() {
        return requestEnded.get();
    }

    void checkNotEnded() {
        if (hasEnded()) {
            throw new IllegalStateException("the request has ended and its form is closed: call"
                    + " MultipartRequests.hold before the end, or start the worker with AsyncContext.start");
        }
    }

    /** Releases the reference of the request itself. Idempotent. */
    void requestEnded() {
        if (requestEnded.compareAndSet(false, true)) {
            expireWorkersAfterGrace();
            release();
        }
    }

    /** Ends the lease at once, even if references remain. */
    void shutDown() {
        if (holds.getAndSet(0) > 0) {
            onEnd.run();
        }
    }

    /** {@return a wrapper of {@code work} that holds a reference until it has run} */
    Worker worker(Runnable work) {
        hold();
        Worker worker = new Worker(work);
        pendingWorkers.add(worker);
        if (requestEnded.get()) { // ended in the meantime, perhaps before this worker was added
            expireWorkersAfterGrace();
        }
        return worker;
    }

    private void expireWorkersAfterGrace() {
        if (!pendingWorkers.isEmpty()) {
            afterGrace(() -> pendingWorkers.forEach(Worker::expire));
        }
    }

    /** A worker with a reference, which is released after it has run or when it expires. */
    final class Worker implements Runnable {
        private final Runnable work;

        private Worker(Runnable work) {
            this.work = work;
        }

        @Override
        public void run() {
            boolean hasReference = pendingWorkers.remove(this);
            try {
                work.run();
            } finally {
                if (hasReference) {
                    release();
                }
            }
        }

        /** Releases the reference of a worker that has not begun. */
        void expire() {
            if (pendingWorkers.remove(this)) {
                release();
            }
        }
    }

    /** {@return a task, scheduled to run after the grace period; null if the timer is closed} */
    @Nullable
    Future<?> afterGrace(Runnable task) {
        return timer.schedule(task, GRACE);
    }
}
