package dev.sluice.s3;

import dev.sluice.form.StoreMetrics;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The requests to an object store from which {@link CommitProtocol} is built. Thread-safe, and no method blocks.
 *
 * <p>A store must be strongly consistent only in {@link #write}: of all conditional writes to an absent key exactly one succeeds.
 * Everything else may be late, repeated, lost or out of date.
 *
 * <p>A request that fails temporarily is retried before its future fails, except {@link #write}, which is made once.
 * A response counts as a success only if it contains what the protocol needs; otherwise the request has failed.
 *
 * <p>Each future must eventually complete, even after {@link #close}. Until then, the form of the request is not cleaned up, and {@link
 * S3Sinks#whenIdle} waits. Cancelling the future of {@link #upload} or {@link #put} cancels the request. Other requests may continue.
 */
public interface ObjectStore extends AutoCloseable {
    /**
     * An object to be stored.
     *
     * @param key the name of the object
     * @param contentType the media type of the object
     * @param metadata further names and values, of visible ASCII characters
     * @param isNew whether storing the object fails with a {@link java.nio.file.FileAlreadyExistsException} if the key exists; the metadata
     *     identifies the object
     */
    record Target(String key, String contentType, Map<String, String> metadata, boolean isNew) {}

    /** A stored part of a multipart upload: its number from 1, its ETag, and the CRC-32 of its bytes in base64. */
    record Piece(int number, String tag, String crc32) {}

    /**
     * A stored object, with its size in bytes, and the CRC-32 of its bytes in base64.
     *
     * @param etag the ETag, as the store sent it
     * @param version the version, or null if the bucket keeps none
     */
    record Stored(String key, String etag, @Nullable String version, long size, String crc32) {}

    /** A multipart upload: its key and its identifier. */
    record Upload(String key, String id) {}

    /**
     * A small object that was read: its bytes, its ETag for {@link #write}, the time at which it was written, and the time at which it was
     * read. Both times are by the clock of the store.
     */
    record Content(byte[] bytes, String etag, Instant modified, Instant now) {}

    /** The name of an object, and the time at which it was written, by the clock of the store. */
    record Listed(String key, Instant modified) {}

    /** Some of the objects of a listing, its time by the clock of the store, and a token for the next page, or null after the last one. */
    record Page(List<Listed> objects, Instant now, @Nullable String next) {}

    /**
     * A new multipart upload.
     *
     * @param isOnly whether it is certain that the request has created no other upload; a response that was lost may hide one
     */
    record Created(String id, boolean isOnly) {}

    /** {@return a new multipart upload} */
    CompletableFuture<Created> create(Target target);

    /**
     * {@return the piece, once the store has it}
     *
     * @param number the number of the piece, 1 to 10,000
     * @param body <em>borrowed</em> until the returned future completes; it may be read more than once
     */
    CompletableFuture<Piece> upload(Target target, String id, int number, Segment body);

    /**
     * {@return the object made of all pieces of an upload}
     *
     * @param pieces all pieces, in order
     * @param size the size of the object
     * @param crc32 the CRC-32 of the object, in base64
     */
    CompletableFuture<Stored> complete(Target target, String id, List<Piece> pieces, long size, String crc32);

    /** {@return the object, stored by one request} */
    CompletableFuture<Stored> put(Target target, Segment body);

    /**
     * Aborts a multipart upload.
     *
     * @return a future that completes once the store has no such upload
     */
    CompletableFuture<Void> abort(Upload upload);

    /** {@return the unfinished multipart uploads of exactly this key} */
    CompletableFuture<List<Upload>> uploads(String key);

    /**
     * Writes a small object if a condition holds. The request is made once. If it fails, it is not known whether it was carried out.
     *
     * @param etag the object that is replaced, or null if the key must be absent
     * @return a future that completes if the response proves that the object was written
     */
    CompletableFuture<Void> write(String key, byte[] bytes, @Nullable String etag);

    /** {@return a small object, or null if there is none} */
    CompletableFuture<@Nullable Content> read(String key);

    /**
     * {@return the objects whose keys start with {@code prefix}, in the order of their keys}
     *
     * @param next the token from the previous page, or null for the first one
     */
    CompletableFuture<Page> list(String prefix, @Nullable String next);

    /**
     * Deletes up to 1,000 objects, with all their versions.
     *
     * @return a future that completes if all were deleted or absent
     */
    CompletableFuture<Void> delete(List<String> keys);

    /**
     * {@return a future that completes after {@code delay}, on the {@link #executor()}} Each commit cancels such a future, which must then keep
     * nothing in memory.
     */
    CompletableFuture<Void> after(Duration delay);

    /** {@return the executor of retries, timers and the forms of this store; no other code may block it} */
    Executor executor();

    /** {@return the receiver of the metrics of this store and of the forms that use it} */
    default StoreMetrics metrics() {
        return StoreMetrics.NONE;
    }

    /** Closes the connections and threads that belong to this store. */
    @Override
    void close();
}
