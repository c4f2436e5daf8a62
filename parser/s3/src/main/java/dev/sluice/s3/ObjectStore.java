package dev.sluice.s3;

import dev.sluice.form.StoreMetrics;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What sinks ask of a store: objects in several steps, of which only the last makes one visible. Thread-safe; nothing here
 * waits. Failures that may pass (busy, cut off, no answer in time) have been tried again before a future fails, with an
 * {@link java.io.IOException}. A future that is cancelled cancels what is under way.
 *
 * <p>Blocks of Azure Blob Storage fit, where {@code create} does nothing and uncommitted blocks go by themselves; so do the
 * multipart uploads of Google Cloud Storage.
 */
public interface ObjectStore extends AutoCloseable {
    /**
     * An object to be.
     *
     * @param key its name; never made of what a client sent
     * @param token random, stored with it: an object under this key is this one if it has this token
     * @param ownKey whether nobody else writes under this key
     * @param contentType its media type
     * @param metadata what else is stored with it: names and values of visible ASCII
     */
    record Target(String key, String token, boolean ownKey, String contentType, Map<String, String> metadata) {}

    /**
     * A piece of an upload that the store has.
     *
     * @param number from 1
     * @param tag what the store calls it
     * @param crc32 of its bytes, in base64
     */
    record Piece(int number, String tag, String crc32) {}

    /**
     * An object that is visible.
     *
     * @param key its name
     * @param etag as the store gave it
     * @param version of the object, or null where the store keeps none
     * @param size in bytes
     * @param crc32 of all its bytes, in base64, as the store has confirmed it if it can
     */
    record Stored(String key, String etag, @Nullable String version, long size, String crc32) {}

    /** An upload under way, or left over: its key and what the store calls it. */
    record Upload(String key, String id) {}

    /** {@return what the store calls the upload that was begun} */
    CompletableFuture<String> create(Target target);

    /**
     * {@return the piece, once the store has it as it was sent}
     *
     * @param number 1 to 10,000
     * @param body <em>borrowed</em> until the future has ended; it may be read more than once
     */
    CompletableFuture<Piece> upload(Target target, String id, int number, Segment body);

    /**
     * {@return the object, visible from now on}. Where this fails, it may be visible: {@link #retract}. Once: what of it is
     * carried out late, after the object was deleted, brings nothing back.
     *
     * @param pieces those that are the object, in order; what else was uploaded goes
     * @param size of the object, in bytes
     * @param crc32 of all its bytes, in base64
     */
    CompletableFuture<Stored> complete(Target target, String id, List<Piece> pieces, long size, String crc32);

    /** {@return the object of one segment, visible from now on; where this fails, it may be, or become so} */
    CompletableFuture<Stored> put(Target target, Segment body);

    /**
     * Ends an upload and frees what it takes.
     *
     * @return complete when the store knows it no more
     */
    CompletableFuture<Void> abort(Upload upload);

    /**
     * Deletes the object, if there is one with this token; all versions of it.
     *
     * @return complete when there is none
     */
    CompletableFuture<Void> retract(Target target);

    /** {@return the uploads whose key begins with {@code prefix} and of which nothing is younger than {@code limit}} */
    CompletableFuture<List<Upload>> idleUploads(String prefix, Instant limit);

    /** {@return the keys of the objects that begin with {@code prefix} and are not younger than {@code limit}} */
    CompletableFuture<List<String>> oldObjects(String prefix, Instant limit);

    /** {@return the bytes of an object, which are few, or null if there is none} */
    CompletableFuture<byte @Nullable []> read(String key);

    /** {@return who is told what sinks do with this store} */
    default StoreMetrics metrics() {
        return StoreMetrics.NONE;
    }

    /** Closes what this has opened. */
    @Override
    void close();
}
