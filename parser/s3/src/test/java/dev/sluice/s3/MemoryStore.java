package dev.sluice.s3;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;

/** An object store in memory that answers at once. A piece can be held, and a deletion can be made to fail. */
final class MemoryStore implements ObjectStore {
    private record Entry(String token, byte[] bytes) {}

    private final Map<String, TreeMap<Integer, byte[]>> uploads = new HashMap<>();
    private final Map<String, Entry> objects = new TreeMap<>();
    private final Set<String> late = new HashSet<>();
    private final CountDownLatch pieceHeld = new CountDownLatch(1);
    private int created;
    private int put;
    private boolean holdsPieces;
    private String undeletable = "";

    /** Answers no piece. A piece that is cancelled reaches the store after the next abort of its upload. */
    synchronized void holdPieces() {
        holdsPieces = true;
    }

    /** Waits until a piece is held. */
    void awaitPiece() throws InterruptedException {
        pieceHeld.await();
    }

    /** Fails the next deletion of an object whose key contains {@code part}. */
    synchronized void failDeletion(String part) {
        undeletable = part;
    }

    synchronized Set<String> uploads() {
        return Set.copyOf(uploads.keySet());
    }

    synchronized Set<String> keys() {
        return new TreeSet<>(objects.keySet());
    }

    synchronized byte[] object(String key) {
        return objects.get(key).bytes();
    }

    /** {@return how many objects were stored by one request} */
    synchronized int put() {
        return put;
    }

    @Override
    public synchronized CompletableFuture<String> create(Target target) {
        String id = "upload" + ++created;
        uploads.put(id, new TreeMap<>());
        return CompletableFuture.completedFuture(id);
    }

    @Override
    public synchronized CompletableFuture<Piece> upload(Target target, String id, int number, Segment body) {
        if (holdsPieces) {
            CompletableFuture<Piece> held = new CompletableFuture<>();
            held.whenComplete((never, cancelled) -> addLate(id));
            pieceHeld.countDown();
            return held;
        }
        uploads.get(id).put(number, bytes(body));
        return CompletableFuture.completedFuture(new Piece(number, "tag" + number, body.crc32()));
    }

    private synchronized void addLate(String id) {
        late.add(id);
    }

    @Override
    public synchronized CompletableFuture<Stored> complete(
            Target target, String id, List<Piece> pieces, long size, String crc32) {
        TreeMap<Integer, byte[]> sent = uploads.remove(id);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        pieces.forEach(piece -> all.writeBytes(sent.get(piece.number())));
        return store(target, all.toByteArray(), crc32);
    }

    @Override
    public synchronized CompletableFuture<Stored> put(Target target, Segment body) {
        put++;
        return store(target, bytes(body), body.crc32());
    }

    private CompletableFuture<Stored> store(Target target, byte[] bytes, String crc32) {
        objects.put(target.key(), new Entry(target.token(), bytes));
        return CompletableFuture.completedFuture(new Stored(target.key(), "etag", null, bytes.length, crc32));
    }

    @Override
    public synchronized CompletableFuture<Void> abort(Upload upload) {
        uploads.remove(upload.id());
        if (late.remove(upload.id())) {
            uploads.put(upload.id(), new TreeMap<>(Map.of(1, new byte[1])));
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public synchronized CompletableFuture<Void> retract(Target target) {
        if (!undeletable.isEmpty() && target.key().contains(undeletable)) {
            undeletable = "";
            return CompletableFuture.failedFuture(new IOException("the store deletes nothing"));
        }
        Entry found = objects.get(target.key());
        if (found != null && found.token().equals(target.token())) {
            objects.remove(target.key());
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<List<Upload>> idleUploads(String prefix, Instant limit) {
        return CompletableFuture.completedFuture(List.of());
    }

    @Override
    public CompletableFuture<List<String>> oldObjects(String prefix, Instant limit) {
        return CompletableFuture.completedFuture(List.of());
    }

    @Override
    public synchronized CompletableFuture<byte[]> read(String key) {
        Entry found = objects.get(key);
        return CompletableFuture.completedFuture(found == null ? null : found.bytes());
    }

    @Override
    public void close() {}

    /** {@return the bytes of a segment, which delivers them within the call} */
    private static byte[] bytes(Segment body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        body.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(ByteBuffer more) {
                byte[] copy = new byte[more.remaining()];
                more.get(copy);
                bytes.writeBytes(copy);
            }

            @Override
            public void onError(Throwable failure) {
                throw new AssertionError(failure);
            }

            @Override
            public void onComplete() {}
        });
        return bytes.toByteArray();
    }
}
