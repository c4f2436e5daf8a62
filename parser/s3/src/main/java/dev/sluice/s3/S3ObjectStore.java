package dev.sluice.s3;

import static dev.sluice.s3.ResponseException.requireNext;
import static dev.sluice.s3.ResponseException.requireSame;
import static dev.sluice.s3.ResponseException.required;

import dev.sluice.form.StoreMetrics;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.FlowAdapters;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.SdkAdvancedAsyncClientOption;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.DeletedObject;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;
import software.amazon.awssdk.services.s3.model.Tag;
import software.amazon.awssdk.services.s3.model.Tagging;

/**
 * A bucket of a store that speaks the S3 protocol, through the asynchronous client of the AWS SDK. Thread-safe.
 *
 * <p>A CRC-32 of each piece and of each object is computed while the bytes arrive. The checksum of each request body is sent as a plain
 * header. A response without a matching checksum is not trusted: a second request checks the object. The store computes the checksum of a
 * large object from the checksums of its pieces, which more stores support than checksums of whole objects. Retries and timers run on two
 * threads of this store.
 */
public final class S3ObjectStore implements ObjectStore {
    private static final int THREADS = 2;
    private static final int MAX_ABORTS = 4;

    /** The additional time for each piece when an upload is completed. */
    private static final Duration PER_PIECE = Duration.ofMillis(100);

    private final ScheduledThreadPoolExecutor executor;
    private final S3AsyncClient client;
    private final boolean closesClient;
    private final String bucket;
    private final StoreMetrics metrics;
    private final Retries retries;
    private final BodyLimit bodies;
    private final ObjectCheck check;
    private final @Nullable Duration attemptTimeout;
    private final @Nullable String encryption;
    private final @Nullable String encryptionKey;
    private final @Nullable Tagging tagging;

    private S3ObjectStore(Builder builder) {
        this.executor = new ScheduledThreadPoolExecutor(THREADS, task -> {
            Thread thread = new Thread(task, "sluice-s3");
            thread.setDaemon(true);
            return thread;
        });
        executor.setRemoveOnCancelPolicy(true);
        S3AsyncClient given = builder.client;
        this.client = given != null ? given : builder.newClient(executor);
        this.closesClient = given == null;
        this.bucket = builder.bucket;
        this.metrics = builder.metrics;
        this.retries = new Retries(builder.attempts, builder.pauseMillis, this::after, metrics);
        this.bodies = new BodyLimit(metrics, builder.attemptTimeout, System::nanoTime);
        this.check = new ObjectCheck(client, bucket, retries);
        this.attemptTimeout = given != null ? null : builder.attemptTimeout;
        this.encryption = builder.encryption;
        this.encryptionKey = builder.encryptionKey;
        List<Tag> tags = new ArrayList<>();
        builder.tags.forEach(
                (key, value) -> tags.add(Tag.builder().key(key).value(value).build()));
        this.tagging = tags.isEmpty() ? null : Tagging.builder().tagSet(tags).build();
    }

    /** {@return a builder of a store that uses an existing bucket} */
    public static Builder builder(String bucket) {
        return new Builder(bucket);
    }

    /** {@return a change to a request that may take {@code more} time than others; none with a client of the application} */
    private Consumer<AwsRequestOverrideConfiguration.Builder> within(Duration more) {
        return request -> {
            if (attemptTimeout != null) {
                request.apiCallAttemptTimeout(attemptTimeout.plus(more));
            }
        };
    }

    // ---- uploads

    @Override
    public CompletableFuture<Created> create(Target target) {
        AtomicInteger attempts = new AtomicInteger();
        return retries.trying("CreateMultipartUpload", () -> {
                    attempts.incrementAndGet();
                    return client.createMultipartUpload(request -> request.bucket(bucket)
                                    .key(target.key())
                                    .contentType(target.contentType())
                                    .metadata(target.metadata())
                                    .serverSideEncryption(encryption)
                                    .ssekmsKeyId(encryptionKey)
                                    .tagging(tagging)
                                    .checksumAlgorithm(ChecksumAlgorithm.CRC32))
                            .thenApply(response -> required("an upload ID", response.uploadId()));
                })
                .thenApply(id -> new Created(id, attempts.get() == 1));
    }

    @Override
    public CompletableFuture<Piece> upload(Target target, String id, int number, Segment body) {
        String crc32 = body.crc32();
        return send(
                "UploadPart",
                body,
                content -> client.uploadPart(
                        request -> request.bucket(bucket)
                                .key(target.key())
                                .uploadId(id)
                                .partNumber(number)
                                .contentLength(body.size())
                                .checksumCRC32(crc32)
                                .overrideConfiguration(within(BodyLimit.moreTime(body.size()))),
                        content),
                response -> {
                    requireSame(crc32, response.checksumCRC32());
                    return new Piece(number, required("an ETag", response.eTag()), crc32);
                });
    }

    /** Sends a body when it is its turn. {@return the converted response; cancelling it cancels the request} */
    private <T, R> CompletableFuture<R> send(
            String what, Segment body, Function<AsyncRequestBody, CompletableFuture<T>> call, Function<T, R> then) {
        return retries.trying(
                what,
                () -> bodies.send(body, () -> {
                    CompletableFuture<T> request =
                            call.apply(AsyncRequestBody.fromPublisher(FlowAdapters.toPublisher(body)));
                    CompletableFuture<R> made = request.thenApply(then);
                    made.whenComplete((done, cause) -> request.cancel(true));
                    return made;
                }));
    }

    @Override
    public CompletableFuture<Stored> complete(Target target, String id, List<Piece> pieces, long size, String crc32) {
        List<CompletedPart> parts = pieces.stream()
                .map(piece -> CompletedPart.builder()
                        .partNumber(piece.number())
                        .eTag(piece.tag())
                        .checksumCRC32(piece.crc32())
                        .build())
                .toList();
        CRC32 ofSums = new CRC32();
        pieces.forEach(piece -> ofSums.update(Base64.getDecoder().decode(piece.crc32())));
        String composite = Segment.base64(ofSums) + '-' + pieces.size();
        CompletableFuture<ObjectCheck.Response> stored = retries.trying(
                "CompleteMultipartUpload",
                () -> client.completeMultipartUpload(request -> request.bucket(bucket)
                                .key(target.key())
                                .uploadId(id)
                                .multipartUpload(upload -> upload.parts(parts))
                                .overrideConfiguration(within(PER_PIECE.multipliedBy(parts.size())))
                                .ifNoneMatch(target.isNew() ? "*" : null))
                        .thenApply(response -> new ObjectCheck.Response(
                                required("an ETag", response.eTag()), response.versionId(), response.checksumCRC32())));
        return check.stored(target, size, crc32, composite, stored);
    }

    @Override
    public CompletableFuture<Stored> put(Target target, Segment body) {
        String crc32 = body.crc32();
        CompletableFuture<ObjectCheck.Response> stored = send(
                "PutObject",
                body,
                content -> client.putObject(
                        request -> request.bucket(bucket)
                                .key(target.key())
                                .contentType(target.contentType())
                                .contentLength(body.size())
                                .metadata(target.metadata())
                                .serverSideEncryption(encryption)
                                .ssekmsKeyId(encryptionKey)
                                .tagging(tagging)
                                .checksumCRC32(crc32)
                                .overrideConfiguration(within(BodyLimit.moreTime(body.size())))
                                .ifNoneMatch(target.isNew() ? "*" : null),
                        content),
                response -> {
                    requireSame(crc32, response.checksumCRC32());
                    return new ObjectCheck.Response(
                            required("an ETag", response.eTag()), response.versionId(), response.checksumCRC32());
                });
        return check.stored(target, body.size(), crc32, crc32, stored);
    }

    /** {@return the response, or null if it is 404} */
    static <T> CompletableFuture<@Nullable T> nullIfMissing(CompletableFuture<T> made) {
        return made.exceptionally(failure -> {
            if (Retries.isStatus(failure, 404)) {
                return null;
            }
            throw new CompletionException(Futures.unwrap(failure));
        });
    }

    /** {@inheritDoc} Repeated until the store has no such upload, because a late piece may revive it. */
    @Override
    public CompletableFuture<Void> abort(Upload upload) {
        return abort(upload, MAX_ABORTS);
    }

    private CompletableFuture<Void> abort(Upload upload, int left) {
        return retries.trying(
                        "AbortMultipartUpload",
                        () -> nullIfMissing(client.abortMultipartUpload(request ->
                                request.bucket(bucket).key(upload.key()).uploadId(upload.id()))))
                .thenCompose(aborted -> aborted == null
                        ? CompletableFuture.completedFuture(null)
                        : retries.trying(
                                "ListParts",
                                () -> nullIfMissing(client.listParts(request ->
                                        request.bucket(bucket).key(upload.key()).uploadId(upload.id())))))
                .thenCompose(parts -> parts == null
                        ? Futures.DONE
                        : left > 1
                                ? abort(upload, left - 1)
                                : CompletableFuture.failedFuture(
                                        new IOException("the upload is still there after it was aborted: " + upload)));
    }

    @Override
    public CompletableFuture<List<Upload>> uploads(String key) {
        return retries.trying("ListMultipartUploads", () -> {
            List<Upload> found = new ArrayList<>();
            return client.listMultipartUploadsPaginator(
                            request -> request.bucket(bucket).prefix(key))
                    .subscribe(page -> {
                        requireNext(page.isTruncated(), page.nextKeyMarker());
                        page.uploads().stream()
                                .filter(upload -> upload.key().equals(key))
                                .forEach(upload -> found.add(new Upload(key, upload.uploadId())));
                    })
                    .thenApply(listed -> found);
        });
    }

    // ---- small objects

    @Override
    public CompletableFuture<Void> write(String key, byte[] bytes, @Nullable String etag) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        String crc32 = Segment.base64(crc);
        return client.putObject(
                        request -> request.bucket(bucket)
                                .key(key)
                                .contentType("application/json")
                                .serverSideEncryption(encryption)
                                .ssekmsKeyId(encryptionKey)
                                .checksumCRC32(crc32)
                                .ifNoneMatch(etag == null ? "*" : null)
                                .ifMatch(etag),
                        AsyncRequestBody.fromBytes(bytes))
                .thenAccept(response -> {
                    required("an ETag", response.eTag());
                    requireSame(crc32, required("a checksum", response.checksumCRC32()));
                })
                .exceptionally(failure -> {
                    throw new CompletionException(Retries.explained("PutObject", Futures.unwrap(failure)));
                });
    }

    @Override
    public CompletableFuture<@Nullable Content> read(String key) {
        return retries.trying(
                "GetObject",
                () -> nullIfMissing(client.getObject(
                                request -> request.bucket(bucket).key(key), AsyncResponseTransformer.toBytes())
                        .thenApply(found -> {
                            GetObjectResponse head = found.response();
                            return new Content(
                                    found.asByteArray(),
                                    required("an ETag", head.eTag()),
                                    required("a Last-Modified", head.lastModified()),
                                    date(head));
                        })));
    }

    private static Instant date(SdkResponse response) {
        String date = required(
                "a Date", response.sdkHttpResponse().firstMatchingHeader("Date").orElse(null));
        try {
            return DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from);
        } catch (DateTimeParseException e) {
            return required("a valid Date", null);
        }
    }

    @Override
    public CompletableFuture<Page> list(String prefix, @Nullable String next) {
        return retries.trying(
                "ListObjectsV2",
                () -> client.listObjectsV2(
                                request -> request.bucket(bucket).prefix(prefix).continuationToken(next))
                        .thenApply(page -> new Page(
                                page.contents().stream()
                                        .map(object -> new Listed(
                                                required("a key", object.key()),
                                                required("a LastModified", object.lastModified())))
                                        .toList(),
                                date(page),
                                requireNext(page.isTruncated(), page.nextContinuationToken()))));
    }

    /**
     * {@inheritDoc} In a bucket with versioning, a delete marker hides all versions of a key. The versions are deleted first, and the markers
     * last, so that a deletion that fails half-way does not reveal an older version.
     */
    @Override
    public CompletableFuture<Void> delete(List<String> keys) {
        return deleteAll(keys.stream().map(key -> identifier(key, null)).toList())
                .thenCompose(response -> Futures.each(
                        response.deleted().stream()
                                .filter(deleted -> Boolean.TRUE.equals(deleted.deleteMarker()))
                                .map(DeletedObject::key)
                                .toList(),
                        this::deleteVersions));
    }

    private static ObjectIdentifier identifier(String key, @Nullable String version) {
        return ObjectIdentifier.builder().key(key).versionId(version).build();
    }

    private CompletableFuture<DeleteObjectsResponse> deleteAll(List<ObjectIdentifier> objects) {
        return retries.trying(
                "DeleteObjects",
                () -> client.deleteObjects(request -> request.bucket(bucket).delete(these -> these.objects(objects)))
                        .thenApply(response -> {
                            if (response.deleted().size() < objects.size()) {
                                String message = "objects could not be deleted: " + response.errors();
                                boolean mayPass = response.errors().stream()
                                        .allMatch(error -> Retries.transientCause(error.code()) != null);
                                throw new CompletionException(
                                        mayPass ? ResponseException.incomplete(message) : new IOException(message));
                            }
                            return response;
                        }));
    }

    /** Deletes the versions of a key, and then its delete markers. */
    private CompletableFuture<Void> deleteVersions(String key) {
        return retries.trying("ListObjectVersions", () -> {
                    List<ObjectIdentifier> versions = new ArrayList<>();
                    List<ObjectIdentifier> markers = new ArrayList<>();
                    return client.listObjectVersionsPaginator(
                                    request -> request.bucket(bucket).prefix(key))
                            .subscribe(page -> {
                                requireNext(page.isTruncated(), page.nextKeyMarker());
                                page.versions().stream()
                                        .filter(version -> version.key().equals(key))
                                        .forEach(version -> versions.add(identifier(key, version.versionId())));
                                page.deleteMarkers().stream()
                                        .filter(marker -> marker.key().equals(key))
                                        .forEach(marker -> markers.add(identifier(key, marker.versionId())));
                            })
                            .thenApply(listed -> List.of(versions, markers));
                })
                .thenCompose(found -> Futures.inBatches(found.get(0), this::deleteAll)
                        .thenCompose(deleted -> Futures.inBatches(found.get(1), this::deleteAll)));
    }

    @Override
    public CompletableFuture<Void> after(Duration delay) {
        CompletableFuture<Void> passed = new CompletableFuture<>();
        try {
            Future<?> timer = executor.schedule(() -> passed.complete(null), delay.toMillis(), TimeUnit.MILLISECONDS);
            passed.whenComplete((done, cancelled) -> timer.cancel(false));
        } catch (RejectedExecutionException e) {
            passed.completeExceptionally(new IOException("the object store was closed", e));
        }
        return passed;
    }

    @Override
    public Executor executor() {
        return executor;
    }

    @Override
    public StoreMetrics metrics() {
        return metrics;
    }

    @Override
    public void close() {
        executor.shutdown();
        if (closesClient) {
            client.close();
        }
    }

    /** The settings of a store. Each method returns this builder. Not thread-safe. */
    public static final class Builder {
        private final String bucket;
        private @Nullable S3AsyncClient client;
        private @Nullable URI endpoint;
        private @Nullable Region region;
        private @Nullable AwsCredentialsProvider credentials;
        private boolean pathStyle;
        private int attempts = 6;
        private long pauseMillis = 100;
        private Duration attemptTimeout = Duration.ofSeconds(15);
        private @Nullable String encryption;
        private @Nullable String encryptionKey;
        private Map<String, String> tags = Map.of();
        private StoreMetrics metrics = StoreMetrics.NONE;

        private Builder(String bucket) {
            this.bucket = Objects.requireNonNull(bucket, "bucket");
        }

        /**
         * Sets the client for all requests, which remains owned by the caller. The settings of the connection ({@link #endpoint}, {@link
         * #region}, {@link #credentials}, {@link #pathStyle}, {@link #attemptTimeout}) are ignored then. Turn off its retries and its own
         * checksums.
         */
        public Builder client(S3AsyncClient value) {
            this.client = Objects.requireNonNull(value, "client");
            return this;
        }

        /** Sets the address of the store; AWS by default. */
        public Builder endpoint(URI value) {
            this.endpoint = Objects.requireNonNull(value, "endpoint");
            return this;
        }

        /** Sets the region, such as {@code eu-central-1}; by default the SDK looks for it in its usual places. */
        public Builder region(String value) {
            this.region = Region.of(value);
            return this;
        }

        /** Sets the provider of credentials, which is called for each request; by default the SDK looks for them in its usual places. */
        public Builder credentials(AwsCredentialsProvider value) {
            this.credentials = Objects.requireNonNull(value, "credentials");
            return this;
        }

        /** Sets whether the bucket is part of the path, not of the host name; false by default. */
        public Builder pathStyle(boolean value) {
            this.pathStyle = value;
            return this;
        }

        /** Sets the maximum number of attempts for a request, 1 or more; 6 by default. */
        public Builder attempts(int value) {
            this.attempts = (int) atLeastOne(value, "attempts");
            return this;
        }

        /**
         * Sets the longest pause before the second attempt, 1 millisecond or more; 100 by default. It doubles with each further attempt, and
         * is five times as long if the store is busy.
         */
        public Builder pauseMillis(int value) {
            this.pauseMillis = atLeastOne(value, "pauseMillis");
            return this;
        }

        /**
         * Sets the time for one attempt, 1 millisecond or more; 15 seconds by default. A request with a body gets one more second for each
         * 256 KiB, and the completion of an upload 0.1 more seconds for each piece.
         */
        public Builder attemptTimeout(Duration value) {
            atLeastOne(value.toMillis(), "attemptTimeout in milliseconds");
            this.attemptTimeout = value;
            return this;
        }

        /** Makes the store encrypt objects with its own keys; by default the bucket decides. */
        public Builder encrypted() {
            this.encryption = ServerSideEncryption.AES256.toString();
            this.encryptionKey = null;
            return this;
        }

        /** Makes the store encrypt objects with the key {@code kmsKey} of its key service; by default the bucket decides. */
        public Builder encrypted(String kmsKey) {
            this.encryption = ServerSideEncryption.AWS_KMS.toString();
            this.encryptionKey = Objects.requireNonNull(kmsKey, "kmsKey");
            return this;
        }

        /** Sets the tags of the files and of their intents; none by default. The record of a form has no tags. */
        public Builder tags(Map<String, String> value) {
            this.tags = Map.copyOf(value);
            return this;
        }

        /** Sets the receiver of the metrics of this store and of the forms that use it. */
        public Builder metrics(StoreMetrics value) {
            this.metrics = Objects.requireNonNull(value, "metrics");
            return this;
        }

        private static long atLeastOne(long value, String name) {
            if (value < 1) {
                throw new IllegalArgumentException(name + " is " + value + ", must be 1 or more");
            }
            return value;
        }

        private S3AsyncClient newClient(Executor executor) {
            S3AsyncClientBuilder made = S3AsyncClient.builder()
                    .region(region)
                    .endpointOverride(endpoint)
                    .forcePathStyle(pathStyle)
                    .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                    .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                    .serviceConfiguration(s3 -> s3.chunkedEncodingEnabled(false).expectContinueEnabled(false))
                    .asyncConfiguration(async ->
                            async.advancedOption(SdkAdvancedAsyncClientOption.FUTURE_COMPLETION_EXECUTOR, executor))
                    .overrideConfiguration(all ->
                            all.apiCallAttemptTimeout(attemptTimeout).retryStrategy(AwsRetryStrategy.doNotRetry()));
            if (credentials != null) {
                made.credentialsProvider(credentials);
            }
            return made.build();
        }

        /** {@return the store} */
        public S3ObjectStore build() {
            return new S3ObjectStore(this);
        }
    }
}
