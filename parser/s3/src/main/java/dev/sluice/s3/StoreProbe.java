package dev.sluice.s3;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The check that a bucket exists, and that its store obeys both conditions of the {@link CommitProtocol} for a single client.
 *
 * <p>A condition counts as obeyed only if the store rejects a write because of it. After any other failure that may be temporary, the step
 * is repeated.
 */
final class StoreProbe {
    /** The start of the keys of the check, after the prefix. */
    static final String FOLDER = ".probe/";

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
                .thenCompose(listed -> write("1", null, null, 1)
                        .thenCompose(first -> write("2", null, "If-None-Match", 1))
                        .thenCompose(first -> write("3", "\"0\"", "If-Match", 1))
                        .thenCompose(first -> write("4", first.etag(), null, 1))
                        .handle((done, failure) -> store.delete(List.of(key)).handle((gone, problem) -> failure))
                        .thenCompose(Function.identity()))
                .thenCompose(failure ->
                        failure == null ? Futures.DONE : CompletableFuture.failedFuture(Futures.unwrap(failure)));
    }

    /**
     * Writes a value under a condition, and reads the object back.
     *
     * @param violated the header whose condition does not hold, so that the write must fail; null if the condition holds
     * @return the object, if the store obeys the condition
     */
    private CompletableFuture<ObjectStore.Content> write(
            String value, @Nullable String etag, @Nullable String violated, int attempt) {
        byte[] bytes = value.getBytes(StandardCharsets.US_ASCII);
        return store.write(key, bytes, etag)
                .handle((written, failure) -> failure == null ? null : Futures.unwrap(failure))
                .thenCompose(failure -> store.read(key).thenCompose(found -> {
                    boolean isWritten = found != null && Arrays.equals(found.bytes(), bytes);
                    boolean isRejected = failure instanceof FileAlreadyExistsException;
                    if (found != null && (violated == null ? isWritten : isRejected)) {
                        return CompletableFuture.completedFuture(found);
                    } else if (!isWritten
                            && attempt < CommitProtocol.MAX_ATTEMPTS
                            && (failure == null || !Retries.isPermanent(failure))) {
                        return store.after(CommitProtocol.PAUSE.multipliedBy(1L << attempt))
                                .thenCompose(paused -> write(value, etag, violated, attempt + 1));
                    }
                    String reason = violated == null
                            ? "the object store does not show what was written to it"
                            : "the object store ignores the header " + violated
                                    + ", without which forms cannot be committed safely; use another store";
                    return CompletableFuture.failedFuture(
                            failure == null || isWritten || isRejected ? new IOException(reason) : failure);
                }));
    }
}
