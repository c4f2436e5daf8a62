package dev.sluice.task;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * A task that any thread may trigger, but that only one thread runs at a time.
 *
 * <p>The caller that triggers an idle task must run it, on its own thread or on another one. A task that is triggered while it runs is run
 * again by the same thread, once for all triggers in the meantime. No trigger is lost and no thread waits. Each run sees everything that
 * was written before its triggers or by earlier runs.
 *
 * <p>A task with a lot of work may stop early, so that other tasks get a turn on the thread. It then returns true, and
 * so does {@link #run} if this was the last run. The caller triggers the task again later.
 */
public final class SerialTask {
    private final BooleanSupplier task;

    /** The number of triggers that have not been served; 0 while the task is idle. */
    private final AtomicInteger triggers = new AtomicInteger();

    /** @param task returns whether it stopped early. It must not throw, because it would then never run again */
    public SerialTask(BooleanSupplier task) {
        this.task = task;
    }

    /** {@return whether the task was idle, so that the caller must {@link #run} it} */
    public boolean trigger() {
        return triggers.getAndIncrement() == 0;
    }

    /**
     * Runs the task until all triggers are served. Call this once for each {@link #trigger()} that returned true.
     *
     * @return whether the last run stopped early
     */
    public boolean run() {
        boolean stoppedEarly;
        int served = 1;
        do {
            stoppedEarly = task.getAsBoolean();
            served = triggers.addAndGet(-served);
        } while (served != 0);
        return stoppedEarly;
    }
}
