package dev.sluice.s3;

import dev.sluice.form.StoreMetrics;
import java.util.function.Consumer;

/** Reports events to the metrics. An exception of the metrics goes to the uncaught-exception handler. */
record StoreEvents(StoreMetrics metrics) {
    void report(Consumer<StoreMetrics> event) {
        try {
            event.accept(metrics);
        } catch (Throwable e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }
}
