package dev.sluice.servlet;

import dev.sluice.form.FormIntake;
import dev.sluice.task.IsolatedCall;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One thread, from the first asynchronous form to the end of the owner, that looks for clients that send nothing, for
 * sinks that are stuck, and for workers that do not come.
 */
final class PaceWatch implements AutoCloseable {
    private static final long LONGEST_INTERVAL = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_STOP_MILLIS = 5_000;

    private final long interval;
    private final Set<FormIntake> watched = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ScheduledExecutorService timer;
    private volatile @Nullable Thread thread;
    private boolean closed;

    PaceWatch(Duration grace) {
        this.interval = Math.max(Math.min(TimeUnit.NANOSECONDS.convert(grace) / 4, LONGEST_INTERVAL), 1);
    }

    void add(FormIntake form) {
        started();
        watched.add(form);
    }

    /** Does something short later; at the end of the owner there is nothing to be done any more. {@return how to cancel it} */
    @Nullable
    Future<?> later(Runnable task, Duration delay) {
        ScheduledExecutorService running = started();
        if (running != null) {
            try {
                return running.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // closed meanwhile
            }
        }
        return null;
    }

    private @Nullable ScheduledExecutorService started() {
        lock.lock();
        try {
            if (timer == null && !closed) {
                ScheduledThreadPoolExecutor started = new ScheduledThreadPoolExecutor(1, task -> {
                    Thread made = new Thread(task, "sluice-pace-watch");
                    made.setDaemon(true);
                    thread = made;
                    return made;
                });
                started.setRemoveOnCancelPolicy(true);
                started.scheduleWithFixedDelay(this::look, interval, interval, TimeUnit.NANOSECONDS);
                timer = started;
            }
            return timer;
        } finally {
            lock.unlock();
        }
    }

    void remove(FormIntake form) {
        watched.remove(form);
    }

    private void look() {
        long now = System.nanoTime();
        for (FormIntake form : watched) {
            IsolatedCall.run(() -> form.checkPace(now)); // an exception would stop the timer
        }
    }

    /** Stops the thread, and waits until it has. */
    @Override
    public void close() {
        ScheduledExecutorService started;
        lock.lock();
        try {
            closed = true;
            started = timer;
            timer = null;
        } finally {
            lock.unlock();
        }
        if (started != null) {
            started.shutdownNow();
            Thread last = thread;
            try {
                if (last != null) { // a timer has ended before its thread has, and containers look at threads
                    last.join(LONGEST_STOP_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
