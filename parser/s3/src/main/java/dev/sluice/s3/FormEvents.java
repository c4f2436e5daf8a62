package dev.sluice.s3;

import dev.sluice.task.SerialTask;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The events of one form: the calls of the form and of its sinks, and the responses of the store. They run one after the other, on the
 * executor of the store. Only {@link #post} is for any thread; events call the other methods.
 */
final class FormEvents {
    private final ObjectStore store;
    private final Runnable afterEach;
    private final Consumer<Throwable> onFailure;
    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final SerialTask running = new SerialTask(this::run);
    private final Set<CompletableFuture<?>> cancellable = new HashSet<>();

    /** The number of requests without a response. */
    private int openRequests;

    /** @param onFailure accepts the failure of a request or of an event; must not throw */
    FormEvents(ObjectStore store, Runnable afterEach, Consumer<Throwable> onFailure) {
        this.store = store;
        this.afterEach = afterEach;
        this.onFailure = onFailure;
    }

    /** Runs {@code event} after all earlier ones. */
    void post(Runnable event) {
        events.add(event);
        if (running.trigger()) {
            try {
                store.executor().execute(running::run);
            } catch (RejectedExecutionException e) { // the store was closed
                running.run();
            }
        }
    }

    private void run() {
        for (Runnable event; (event = events.poll()) != null; ) {
            try {
                event.run();
                afterEach.run();
            } catch (Throwable e) {
                onFailure.accept(e);
            }
        }
    }

    /** Handles the response to a request as an event. If the request has failed, {@code then} runs before the form fails. */
    <T> void request(CompletableFuture<T> request, BiConsumer<@Nullable T, @Nullable Throwable> then) {
        openRequests++;
        request.whenComplete((response, cause) -> post(() -> {
            openRequests--;
            then.accept(response, cause);
            if (cause != null) {
                onFailure.accept(cause);
            }
        }));
    }

    /** Like {@link #request}, for a request that {@link #cancelRequests} cancels. */
    <T> void cancellable(CompletableFuture<T> request, BiConsumer<@Nullable T, @Nullable Throwable> then) {
        cancellable.add(request);
        request(request, (response, cause) -> {
            cancellable.remove(request);
            then.accept(response, cause);
        });
    }

    void cancelRequests() {
        List.copyOf(cancellable).forEach(request -> request.cancel(true));
    }

    boolean hasOpenRequests() {
        return openRequests > 0;
    }
}
