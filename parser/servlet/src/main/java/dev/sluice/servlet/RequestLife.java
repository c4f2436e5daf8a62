package dev.sluice.servlet;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * How long what belongs to a request is kept: until nobody holds it any more. It is held by the request itself until that
 * is over, by whoever parses, by workers that are counted, and by those who asked for a hold.
 */
final class RequestLife {
    /** How long a worker may take to begin, an exception to be dispatched, and the container to say that a request is over. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private final PaceWatch watch;
    private final Runnable atEnd;
    private final AtomicInteger holds = new AtomicInteger(1);
    private final AtomicBoolean over = new AtomicBoolean();

    /** Workers that have not begun. */
    private final Set<Worker> awaited = ConcurrentHashMap.newKeySet();

    /** @param atEnd is run once, when nobody holds it any more */
    RequestLife(PaceWatch watch, Runnable atEnd) {
        this.watch = watch;
        this.atEnd = atEnd;
    }

    /** Keeps it until as many calls of {@link #release()}. */
    void hold() {
        for (; ; ) {
            int now = holds.get();
            checkNotOver();
            if (now > 0 && holds.compareAndSet(now, now + 1)) {
                return;
            }
        }
    }

    void release() {
        if (holds.decrementAndGet() == 0) {
            atEnd.run();
        }
    }

    boolean isOver() {
        return holds.get() <= 0;
    }

    /** {@return whether the container is done with the request, whoever holds it} */
    boolean isRequestOver() {
        return over.get();
    }

    void checkNotOver() {
        if (isOver()) {
            throw new IllegalStateException("the request is over, and its form closed: hold it with"
                    + " MultipartRequests.hold, or start the worker with AsyncContext.start");
        }
    }

    /** The container is done with the request. {@return whether this is the first call} */
    boolean requestOver() {
        if (!over.compareAndSet(false, true)) {
            return false;
        }
        letGoLater();
        release();
        return true;
    }

    /** Whoever holds what, it ends now. */
    void shutDown() {
        if (holds.getAndSet(0) > 0) {
            atEnd.run();
        }
    }

    /** {@return {@code work}, which holds it until it is done} */
    Worker worker(Runnable work) {
        hold();
        Worker worker = new Worker(work);
        awaited.add(worker);
        if (over.get()) { // since when it was asked for: who ended the request may not have seen it
            letGoLater();
        }
        return worker;
    }

    private void letGoLater() {
        if (!awaited.isEmpty()) {
            afterGrace(() -> awaited.forEach(Worker::letGo));
        }
    }

    /** Holds it until it is plain that it will not come, too: Jetty drops workers that have not begun when the request ends. */
    final class Worker implements Runnable {
        private final Runnable work;

        private Worker(Runnable work) {
            this.work = work;
        }

        @Override
        public void run() {
            boolean holds = awaited.remove(this);
            try {
                work.run();
            } finally {
                if (holds) {
                    release();
                }
            }
        }

        /** Holds nothing any more, unless it has begun. */
        void letGo() {
            if (awaited.remove(this)) {
                release();
            }
        }
    }

    /** Runs what is to be done if a container does not do its part meanwhile. {@return how to call it off; or null} */
    @Nullable
    Future<?> afterGrace(Runnable task) {
        return watch.later(task, GRACE);
    }
}
