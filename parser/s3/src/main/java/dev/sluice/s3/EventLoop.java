package dev.sluice.s3;

import dev.sluice.task.SerialTask;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/** Events that run one after the other on an executor, in the order in which they were posted. Thread-safe. */
final class EventLoop {
    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final SerialTask running = new SerialTask(this::runAll);
    private final Executor executor;
    private final Runnable afterEach;
    private final Consumer<Throwable> whenThrown;

    /**
     * @param afterEach runs after each event
     * @param whenThrown receives what an event or {@code afterEach} throws
     */
    EventLoop(Executor executor, Runnable afterEach, Consumer<Throwable> whenThrown) {
        this.executor = executor;
        this.afterEach = afterEach;
        this.whenThrown = whenThrown;
    }

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

    private void runAll() {
        for (Runnable event; (event = events.poll()) != null; ) {
            try {
                event.run();
                afterEach.run();
            } catch (Throwable e) {
                whenThrown.accept(e);
            }
        }
    }
}
