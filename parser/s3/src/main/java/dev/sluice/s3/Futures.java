package dev.sluice.s3;

import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Ways to combine futures. */
final class Futures {
    static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    /** The number of objects that one request can delete. */
    private static final int MAX_DELETED = 1000;

    private Futures() {}

    /** {@return the result of {@code call}, or a failed future if it throws} */
    static <T> CompletableFuture<T> tryCall(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException | Error e) { // also NoClassDefFoundError: the future must complete
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Completes {@code to} like {@code from}. Cancelling {@code to} cancels {@code from}. */
    static <T> void forward(CompletableFuture<T> from, CompletableFuture<T> to) {
        to.whenComplete((value, failure) -> from.cancel(true));
        from.whenComplete((value, failure) -> {
            if (failure == null) {
                to.complete(value);
            } else {
                to.completeExceptionally(unwrap(failure));
            }
        });
    }

    /** {@return the result of the step after {@code first}} Cancelling it cancels the current step, and no other begins. */
    static <T, R> CompletableFuture<R> compose(
            CompletableFuture<T> first, BiFunction<@Nullable T, @Nullable Throwable, CompletableFuture<R>> then) {
        CompletableFuture<R> result = new CompletableFuture<>();
        result.whenComplete((value, failure) -> first.cancel(true));
        first.whenComplete((value, failure) -> {
            if (!result.isDone()) {
                forward(tryCall(() -> then.apply(value, failure == null ? null : unwrap(failure))), result);
            }
        });
        return result;
    }

    /** Calls {@code delete} for as many objects as one request can delete, until all are deleted. */
    static <T> CompletableFuture<Void> inBatches(List<T> objects, Function<List<T>, CompletableFuture<?>> delete) {
        if (objects.isEmpty()) {
            return DONE;
        }
        int count = Math.min(objects.size(), MAX_DELETED);
        return delete.apply(objects.subList(0, count))
                .thenCompose(deleted -> inBatches(objects.subList(count, objects.size()), delete));
    }

    /**
     * Runs {@code step} for each item in turn, even if an earlier one has failed.
     *
     * @return a future that fails with the first failure if there is one; the others are its suppressed exceptions
     */
    static <T> CompletableFuture<Void> each(Collection<T> items, Function<T, CompletableFuture<Void>> step) {
        Set<Throwable> failures = new LinkedHashSet<>();
        CompletableFuture<Void> last = Futures.DONE;
        for (T item : items) {
            last = last.thenCompose(before -> step.apply(item)).exceptionally(failure -> {
                failures.add(Futures.unwrap(failure));
                return null;
            });
        }
        return last.thenAccept(done -> {
            Iterator<Throwable> failed = failures.iterator();
            if (failed.hasNext()) {
                Throwable first = failed.next();
                failed.forEachRemaining(first::addSuppressed);
                throw new CompletionException(first);
            }
        });
    }

    static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
