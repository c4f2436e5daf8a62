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
 * A daemon thread for the time limits of one {@link FormService}. It checks the forms for clients and sinks that are
 * too slow, and runs tasks after a delay. The first form or task starts it.
 */
final class FormTimer implements AutoCloseable {
    private static final long LONGEST_STOP_MILLIS = 5_000;

    private final long interval;
    private final Set<FormIntake> forms = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ScheduledExecutorService executor;
    private volatile @Nullable Thread thread;
    private boolean closed;

    /** @param interval the time between two checks of each form, in nanoseconds */
    FormTimer(long interval) {
        this.interval = interval;
    }

    void add(FormIntake form) {
        startedExecutor();
        forms.add(form);
    }

    /**
     * Runs a short task after a delay, unless this is closed first.
     *
     * @return the scheduled task, or null if this is closed
     */
    @Nullable
    Future<?> schedule(Runnable task, Duration delay) {
        ScheduledExecutorService running = startedExecutor();
        if (running != null) {
            try {
                return running.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // closed by another thread
            }
        }
        return null;
    }

    private @Nullable ScheduledExecutorService startedExecutor() {
        lock.lock();
        try {
            if (executor == null && !closed) {
                ScheduledThreadPoolExecutor started = new ScheduledThreadPoolExecutor(1, task -> {
                    Thread made = new Thread(task, "sluice-form-timer");
                    made.setDaemon(true);
                    thread = made;
                    return made;
                });
                started.setRemoveOnCancelPolicy(true);
                started.scheduleWithFixedDelay(this::checkAll, interval, interval, TimeUnit.NANOSECONDS);
                executor = started;
            }
            return executor;
        } finally {
            lock.unlock();
        }
    }

    void remove(FormIntake form) {
        forms.remove(form);
    }

    private void checkAll() {
        long now = System.nanoTime();
        for (FormIntake form : forms) {
            IsolatedCall.run(() -> form.checkPace(now)); // otherwise an exception would cancel all further checks
        }
    }

    /** Stops the thread, and waits up to 5 seconds for it to end. */
    @Override
    public void close() {
        ScheduledExecutorService started;
        lock.lock();
        try {
            closed = true;
            started = executor;
            executor = null;
        } finally {
            lock.unlock();
        }
        if (started != null) {
            started.shutdownNow();
            Thread last = thread;
            try {
                if (last != null) { // containers report a thread that outlives the application as a leak
                    last.join(LONGEST_STOP_MILLIS);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
