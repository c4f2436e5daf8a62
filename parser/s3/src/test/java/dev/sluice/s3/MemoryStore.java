package dev.sluice.s3;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** An object store in memory. A {@link Network} decides when a request is executed, and which response the client gets. */
class MemoryStore implements ObjectStore {
    /** The connection between a client and the store. */
    interface Network {
        /** A network that carries out requests at once. */
        Network DIRECT = new Network() {};

        /**
         * Sends a request.
         *
         * @param name the operation and the key
         * @param work carries out the request; may be called several times, or never
         */
        default <T> CompletableFuture<T> send(String name, Supplier<T> work) {
            try {
                return CompletableFuture.completedFuture(work.get());
            } catch (RuntimeException e) {
                return CompletableFuture.failedFuture(e.getCause() == null ? e : e.getCause());
            }
        }

        /** {@return the content that a client reads} */
        default Content seen(String key, Content content) {
            return content;
        }

        default CompletableFuture<Void> after(Duration delay) {
            return CompletableFuture.completedFuture(null);
        }

        default Executor executor() {
            return Runnable::run;
        }
    }

    /** The state of the store, which several clients may share. */
    static final class Bucket {
        final TreeMap<String, Content> objects = new TreeMap<>();
        final TreeMap<String, Upload> uploads = new TreeMap<>();
        private final TreeMap<String, TreeMap<Integer, byte[]>> pieces = new TreeMap<>();

        /** The keys of completed uploads. Some stores delete such an object if its upload is aborted. */
        private final TreeMap<String, String> completed = new TreeMap<>();

        Instant now = Instant.parse("2026-01-01T00:00:00Z");
        boolean ignoresIfNoneMatch;
        boolean ignoresIfMatch;
        boolean repeatsCreate;
        private int counter;

        private void put(String key, byte[] bytes) {
            objects.put(key, new Content(bytes, "etag" + ++counter, now, now));
        }

        private Content read(String key) {
            Content found = objects.get(key);
            return found == null ? null : new Content(found.bytes(), found.etag(), found.modified(), now);
        }

        synchronized Set<String> keys() {
            return new TreeSet<>(objects.keySet());
        }
    }

    final Bucket bucket;
    private final Network network;
    final List<String> requests = new CopyOnWriteArrayList<>();

    MemoryStore(Bucket bucket, Network network) {
        this.bucket = bucket;
        this.network = network;
    }

    private <T> CompletableFuture<T> send(String name, Supplier<T> work) {
        requests.add(name);
        return network.send(name, () -> {
            synchronized (bucket) {
                return work.get();
            }
        });
    }

    @Override
    public CompletableFuture<Created> create(Target target) {
        return send("create " + target.key(), () -> {
            if (bucket.repeatsCreate) {
                String id = "lost" + ++bucket.counter;
                bucket.uploads.put(id, new Upload(target.key(), id));
            }
            String id = "upload" + ++bucket.counter;
            bucket.uploads.put(id, new Upload(target.key(), id));
            bucket.pieces.put(id, new TreeMap<>());
            return new Created(id, !bucket.repeatsCreate);
        });
    }

    private TreeMap<Integer, byte[]> pieces(String id) {
        TreeMap<Integer, byte[]> found = bucket.pieces.get(id);
        if (found == null) {
            AwsErrorDetails missing =
                    AwsErrorDetails.builder().errorCode("NoSuchUpload").build();
            throw new IllegalStateException(Retries.explained(
                    "UploadPart",
                    S3Exception.builder()
                            .statusCode(404)
                            .awsErrorDetails(missing)
                            .build()));
        }
        return found;
    }

    @Override
    public CompletableFuture<Piece> upload(Target target, String id, int number, Segment body) {
        byte[] bytes = bytes(body);
        return send("upload " + target.key(), () -> {
            pieces(id).put(number, bytes);
            return new Piece(number, "tag" + number, body.crc32());
        });
    }

    @Override
    public CompletableFuture<Stored> complete(Target target, String id, List<Piece> pieces, long size, String crc32) {
        return send("complete " + target.key(), () -> {
            TreeMap<Integer, byte[]> sent = pieces(id);
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            pieces.forEach(piece -> all.writeBytes(sent.get(piece.number())));
            store(target, all.toByteArray());
            bucket.uploads.remove(id);
            bucket.pieces.remove(id);
            bucket.completed.put(id, target.key());
            return new Stored(target.key(), "etag", null, size, crc32);
        });
    }

    @Override
    public CompletableFuture<Stored> put(Target target, Segment body) {
        byte[] bytes = bytes(body);
        String crc32 = body.crc32();
        return send("put " + target.key(), () -> {
            store(target, bytes);
            return new Stored(target.key(), "etag", null, bytes.length, crc32);
        });
    }

    private void store(Target target, byte[] bytes) {
        if (target.isNew() && bucket.objects.containsKey(target.key())) {
            throw new IllegalStateException(new FileAlreadyExistsException(target.key()));
        }
        bucket.put(target.key(), bytes);
    }

    @Override
    public CompletableFuture<Void> abort(Upload upload) {
        return send("abort " + upload.key(), () -> {
            bucket.uploads.remove(upload.id());
            bucket.pieces.remove(upload.id());
            bucket.objects.remove(bucket.completed.getOrDefault(upload.id(), ""));
            return null;
        });
    }

    @Override
    public CompletableFuture<List<Upload>> uploads(String key) {
        return send(
                "uploads " + key,
                () -> bucket.uploads.values().stream()
                        .filter(upload -> upload.key().equals(key))
                        .toList());
    }

    @Override
    public CompletableFuture<Void> write(String key, byte[] bytes, String etag) {
        return send("write " + key, () -> {
            Content found = bucket.objects.get(key);
            boolean holds = etag == null
                    ? found == null || bucket.ignoresIfNoneMatch
                    : bucket.ignoresIfMatch || found != null && found.etag().equals(etag);
            if (!holds) {
                throw new IllegalStateException(new FileAlreadyExistsException(key));
            }
            bucket.put(key, bytes);
            return null;
        });
    }

    @Override
    public CompletableFuture<Content> read(String key) {
        return send("read " + key, () -> network.seen(key, bucket.read(key)));
    }

    @Override
    public CompletableFuture<Page> list(String prefix, String next) {
        return send("list " + prefix, () -> {
            List<Listed> found = bucket.objects.tailMap(next == null ? prefix : next, next == null).entrySet().stream()
                    .takeWhile(object -> object.getKey().startsWith(prefix))
                    .limit(3)
                    .map(object -> new Listed(object.getKey(), object.getValue().modified()))
                    .toList();
            return new Page(
                    found, bucket.now, found.size() < 3 ? null : found.get(2).key());
        });
    }

    @Override
    public CompletableFuture<Void> delete(List<String> keys) {
        return send("delete " + keys, () -> {
            if (keys.size() > 1000) {
                throw new IllegalStateException("more than 1,000 keys");
            }
            keys.forEach(bucket.objects::remove);
            return null;
        });
    }

    @Override
    public CompletableFuture<Void> after(Duration delay) {
        return network.after(delay);
    }

    @Override
    public Executor executor() {
        return network.executor();
    }

    @Override
    public void close() {}

    /** {@return the bytes of a segment} It delivers all of them within the call of {@code subscribe}. */
    static byte[] bytes(Segment body) {
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
