package dev.sluice.s3;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * What a form of more than one object leaves in the store while they become visible one by one, or are taken back: an object
 * that names them all. Where one is old, nobody has been told that its form is stored, and {@link #sweep} removes what there
 * is of it. A form of one object needs none. All is under the lock of the form.
 */
final class Note {
    /** Behind the prefix of keys. */
    private static final String FOLDER = ".sluice/";

    private static final String FIRST_LINE = "sluice 1";

    private final S3Sinks sinks;
    private final ObjectStore.Target target;
    private final byte[] text;
    private final Instant since = Instant.now();
    private final Set<S3Sink> hidden;
    private final Set<S3Sink> left;
    private boolean dropped;
    private CompletableFuture<Void> state = CompletableFuture.completedFuture(null);

    /**
     * @param id random
     * @param objects the sinks that are going to be visible
     */
    Note(S3Sinks sinks, String id, List<S3Sink> objects) {
        this.sinks = sinks;
        this.target = target(sinks.prefix, id);
        this.hidden = new HashSet<>(objects);
        this.left = new HashSet<>(objects);
        StringBuilder lines = new StringBuilder(FIRST_LINE);
        for (S3Sink sink : objects) {
            ObjectStore.Target object = sink.target;
            lines.append('\n')
                    .append(URLEncoder.encode(object.key(), StandardCharsets.UTF_8))
                    .append(' ')
                    .append(object.token())
                    .append(' ')
                    .append(URLEncoder.encode(sink.uploadId(), StandardCharsets.UTF_8));
        }
        this.text = lines.toString().getBytes(StandardCharsets.UTF_8);
        if (objects.size() > 1) {
            write();
        } else {
            hidden.clear();
            left.clear();
        }
    }

    private static ObjectStore.Target target(String prefix, String id) {
        return new ObjectStore.Target(prefix + FOLDER + id, id, true, "text/plain", Map.of());
    }

    private void write() {
        sinks.begun();
        state = state.handle((before, failure) -> put())
                .thenCompose(written -> written)
                .whenComplete((written, failure) -> sinks.ended());
    }

    /**
     * As an upload, which becomes visible once: a request that the store carries out late, after the note was deleted, would
     * otherwise bring back the note of a form that is stored, and a sweep delete its objects.
     */
    private CompletableFuture<Void> put() {
        Segment body = new Segment(text.length, () -> {});
        CRC32 crc = new CRC32();
        body.add(Unpooled.wrappedBuffer(text), crc);
        return sinks.store
                .create(target)
                .thenCompose(id -> sinks.store
                        .upload(target, id, 1, body.seal())
                        .thenCompose(piece ->
                                sinks.store.complete(target, id, List.of(piece), text.length, Segment.base64(crc)))
                        .<CompletableFuture<Void>>handle((stored, failure) -> failure == null
                                ? CompletableFuture.completedFuture(null)
                                : sinks.store
                                        .abort(new ObjectStore.Upload(target.key(), id))
                                        .handle((gone, problem) -> null)
                                        .thenCompose(tried -> CompletableFuture.failedFuture(failure)))
                        .thenCompose(Function.identity()))
                .whenComplete((written, failure) -> body.release());
    }

    private CompletableFuture<Void> drop() {
        sinks.begun();
        dropped = true;
        state = state.handle((before, failure) -> sinks.store.retract(target))
                .thenCompose(gone -> gone)
                .whenComplete((gone, failure) -> sinks.ended());
        return state;
    }

    /** {@return complete when the objects may become visible} */
    CompletableFuture<Void> written() {
        return state;
    }

    /**
     * {@return complete when it may be said that this object is stored: the last one waits until the note is gone, and fails
     * where that took so long that a sweep may have seen it}
     */
    CompletableFuture<Void> visible(S3Sink sink) {
        if (!hidden.remove(sink) || !hidden.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return drop().thenAccept(gone -> {
            if (Instant.now().isAfter(since.plus(sinks.maxAge.dividedBy(2)))) {
                throw new CompletionException(
                        new IOException("the objects took longer than half of " + sinks.maxAge + " to become visible"));
            }
        });
    }

    /** {@return complete when objects may be deleted: what is left of them is known again where the note was gone} */
    CompletableFuture<Void> takingBack() {
        hidden.clear();
        if (dropped && !left.isEmpty()) {
            dropped = false;
            write();
        }
        return state.handle(
                (ready, failure) -> null); // without it there is only nobody to help if this process is killed now
    }

    /** Of this object nothing is there, nor will be. */
    void undone(S3Sink sink) {
        if (left.remove(sink) && left.isEmpty()) {
            drop();
        }
    }

    // ---- of processes that were killed

    /** Removes the objects of which notes tell that are not younger than {@code limit}; adds their keys to {@code removed}. */
    static CompletableFuture<Void> sweep(ObjectStore store, String prefix, Instant limit, List<String> removed) {
        String folder = prefix + FOLDER;
        return store.oldObjects(folder, limit)
                .thenCompose(notes -> S3Sinks.each(
                        notes,
                        note -> store.read(note)
                                .thenCompose(text -> remove(
                                        store, target(prefix, note.substring(folder.length())), text, removed))));
    }

    private static CompletableFuture<Void> remove(
            ObjectStore store, ObjectStore.Target note, byte @Nullable [] text, List<String> removed) {
        List<String> lines = text == null
                ? List.of()
                : new String(text, StandardCharsets.UTF_8).lines().toList();
        if (lines.isEmpty() || !lines.get(0).equals(FIRST_LINE)) {
            return CompletableFuture.completedFuture(null); // another sweep was first, or it is not ours
        }
        return S3Sinks.each(lines.subList(1, lines.size()), line -> remove(store, note, line, removed))
                .thenCompose(all -> store.retract(note)); // last: a sweep that dies before leaves it to the next
    }

    private static CompletableFuture<Void> remove(
            ObjectStore store, ObjectStore.Target note, String line, List<String> removed) {
        String[] fields = line.split(" ", -1);
        if (fields.length != 3) {
            return CompletableFuture.failedFuture(new IOException("the note " + note.key() + " is damaged: " + line));
        }
        String key = URLDecoder.decode(fields[0], StandardCharsets.UTF_8);
        String upload = URLDecoder.decode(fields[2], StandardCharsets.UTF_8);
        CompletableFuture<Void> ended = upload.isEmpty()
                ? CompletableFuture.completedFuture(null)
                : store.abort(new ObjectStore.Upload(key, upload));
        return ended.thenCompose(done ->
                        store.retract(new ObjectStore.Target(key, fields[1], true, note.contentType(), Map.of())))
                .thenRun(() -> removed.add(key));
    }
}
