package dev.sluice.s3;

import dev.sluice.form.StoreMetrics;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Who is told what becomes of requests; what it throws changes nothing for them. */
record Told(StoreMetrics metrics) {
    void that(Consumer<StoreMetrics> event) {
        try {
            event.accept(metrics);
        } catch (Throwable e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    /** {@return {@code request}, during which these bytes are on their way} */
    <T> CompletableFuture<T> sending(Segment body, CompletableFuture<T> request) {
        long bytes = body.size();
        that(told -> told.sending(1, bytes));
        request.whenComplete((answer, failure) -> that(told -> told.sending(-1, -bytes)));
        return request;
    }
}
