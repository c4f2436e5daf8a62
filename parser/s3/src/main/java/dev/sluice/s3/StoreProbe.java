package dev.sluice.s3;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The check that a bucket exists, and that its store obeys both conditions of the {@link CommitProtocol} for a single client.
 *
 * <p>A condition counts as obeyed only if the store says that it does not hold, and a read shows that nothing was written. Any other
 * failure may pass, so the step is repeated.
 */
final class StoreProbe {
    /** The start of the keys of the check, after the prefix. */
    static final String FOLDER = ".probe/";

    private static final Duration PAUSE = Duration.ofMillis(50);

    private final ObjectStore store;
    private final String open;
    private final String key;

    StoreProbe(CommitProtocol protocol) {
        this.store = protocol.store;
        this.open = protocol.open;
        this.key = protocol.prefix + FOLDER + CommitProtocol.random();
    }

    /** {@return a future that completes if the store can be used, and otherwise fails with the reason} */
    CompletableFuture<Void> run() {
        return store.list(open, null) // some stores create a missing bucket when an object is written
                .thenCompose(listed -> write("1", null, 1))
                .thenCompose(first -> refuse("2", null, "If-None-Match", 1))
                .thenCompose(refused -> refuse("3", "\"0\"", "If-Match", 1))
                .thenCompose(first -> write("4", first.etag(), 1))
                .handle((done, failure) -> store.delete(List.of(key)).handle((gone, problem) -> failure))
                .thenCompose(Function.identity())
                .thenCompose(failure -> failure == null
                        ? CommitProtocol.DONE
                        : CompletableFuture.failedFuture(Retries.unwrap(failure)));
    }

    /** Writes a value for which the condition holds. {@return the object} */
    private CompletableFuture<ObjectStore.Content> write(String value, @Nullable String etag, int attempt) {
        return attempt(value, etag)
                .thenCompose(tried -> tried.isWritten
                        ? CompletableFuture.completedFuture(tried.found)
                        : again(tried, attempt, "the object store does not show what was written to it")
                                .thenCompose(paused -> write(value, etag, attempt + 1)));
    }

    /** Writes a value for which the condition does not hold. {@return the object that was not replaced} */
    private CompletableFuture<ObjectStore.Content> refuse(
            String value, @Nullable String etag, String header, int attempt) {
        String ignored = "the object store ignores the header " + header
                + ", without which forms cannot be committed safely; use another store";
        return attempt(value, etag).thenCompose(tried -> {
            if (tried.isWritten) {
                return CompletableFuture.failedFuture(new IOException(ignored));
            } else if (tried.found != null && tried.failure instanceof FileAlreadyExistsException) {
                return CompletableFuture.completedFuture(tried.found);
            }
            return again(tried, attempt, ignored).thenCompose(paused -> refuse(value, etag, header, attempt + 1));
        });
    }

    private record Tried(
            boolean isWritten,
            ObjectStore.@Nullable Content found,
            @Nullable Throwable failure) {}

    private CompletableFuture<Tried> attempt(String value, @Nullable String etag) {
        byte[] bytes = {(byte) value.charAt(0)};
        return store.write(key, bytes, etag)
                .handle((written, failure) -> failure == null ? null : Retries.unwrap(failure))
                .thenCompose(failure -> store.read(key).thenApply(found -> {
                    boolean isWritten = found != null && found.bytes().length == 1 && found.bytes()[0] == bytes[0];
                    return new Tried(isWritten, found, failure);
                }));
    }

    /** {@return a future that completes when it is time for another attempt, and fails if there is none} */
    private CompletableFuture<Void> again(Tried tried, int attempt, String message) {
        Throwable failure = tried.failure;
        if (attempt < CommitProtocol.MOST_ATTEMPTS && (failure == null || !Retries.isHopeless(failure))) {
            return store.after(PAUSE.multipliedBy(1L << attempt));
        }
        return CompletableFuture.failedFuture(
                failure == null || failure instanceof FileAlreadyExistsException ? new IOException(message) : failure);
    }
}
