package dev.sluice.s3;

import dev.sluice.form.StoreMetrics;
import java.util.concurrent.CompletableFuture;
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

    /** {@return {@code request}, whose body is counted as being sent until it ends} */
    <T> CompletableFuture<T> sending(Segment body, CompletableFuture<T> request) {
        long bytes = body.size();
        report(to -> to.sending(1, bytes));
        request.whenComplete((answer, failure) -> report(to -> to.sending(-1, -bytes)));
        return request;
    }
}
