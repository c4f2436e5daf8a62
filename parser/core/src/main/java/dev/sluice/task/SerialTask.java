package dev.sluice.task;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A task that any thread may trigger, but that only one thread runs at a time.
 *
 * <p>The caller that triggers an idle task must run it, on its own thread or on another one. A task that is triggered while it runs is run
 * again by the same thread, once for all triggers in the meantime. No trigger is lost and no thread waits. Each run sees everything that
 * was written before its triggers or by earlier runs.
 */
public final class SerialTask {
    /** Set if {@link #trigger()} has returned true, and no call of {@link #run} has begun since. */
    private static final int MUST_RUN = 1 << 31;

    private final Runnable task;

    /** The number of triggers that have not been served, and {@link #MUST_RUN}; 0 while the task is idle. */
    private final AtomicInteger triggers = new AtomicInteger();

    /** @param task must not throw, because it would then never run again */
    public SerialTask(Runnable task) {
        this.task = task;
    }

    /** {@return whether the task was idle, so that the caller must {@link #run} it} */
    public boolean trigger() {
        return triggers.getAndUpdate(count -> count == 0 ? MUST_RUN | 1 : count + 1) == 0;
    }

    /**
     * Runs the task until all triggers are served. Call this at least once for each {@link #trigger()} that returned true. After each
     * such trigger, the first call on any thread runs the task, and further calls return at once: an executor may queue a call and then throw
     * or discard it.
     */
    public void run() {
        int served = triggers.getAndUpdate(count -> count & ~MUST_RUN) < 0 ? 1 : 0;
        while (served != 0) {
            task.run();
            served = triggers.addAndGet(-served);
        }
    }

    /** Triggers the task, and runs it on this thread unless another thread runs it. */
    public void triggerAndRun() {
        if (trigger()) {
            run();
        }
    }
}
