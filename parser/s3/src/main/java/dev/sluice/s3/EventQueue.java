package dev.sluice.s3;

import dev.sluice.task.SerialTask;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/** Events that run one after the other on an executor, in their order. Thread-safe. */
final class EventQueue {
    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final SerialTask running = new SerialTask(this::runEvents);
    private final Executor executor;
    private final Runnable afterEach;
    private final Consumer<Throwable> failed;

    /**
     * @param afterEach runs after each event
     * @param failed receives the exceptions of events and of {@code afterEach}
     */
    EventQueue(Executor executor, Runnable afterEach, Consumer<Throwable> failed) {
        this.executor = executor;
        this.afterEach = afterEach;
        this.failed = failed;
    }

    /** Runs {@code event} after all earlier ones. */
    void post(Runnable event) {
        events.add(event);
        if (running.trigger()) {
            try {
                executor.execute(running::run);
            } catch (RejectedExecutionException e) { // the store was closed
                running.run();
            }
        }
    }

    private boolean runEvents() {
        for (Runnable event; (event = events.poll()) != null; ) {
            try {
                event.run();
                afterEach.run();
            } catch (Throwable e) {
                failed.accept(e);
            }
        }
        return false;
    }
}
