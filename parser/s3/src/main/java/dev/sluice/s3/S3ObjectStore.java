package dev.sluice.s3;

import dev.sluice.form.StoreMetrics;
import java.net.URI;
import java.nio.file.FileAlreadyExistsException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.ChecksumType;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;
import software.amazon.awssdk.services.s3.model.Tag;
import software.amazon.awssdk.services.s3.model.Tagging;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * A bucket, through the asynchronous client of the AWS SDK. A request is retried after a pause where that may help; after a
 * lost answer the store is asked what happened. Checksums (CRC-32, of each piece and of the whole object) are sent as plain
 * headers, and compared with those that the store answers, if it does; a store that knows none of whole objects is asked for
 * those of pieces alone. A key that others are writing all the time is {@code SINK_STALLED} (503). Thread-safe.
 */
public final class S3ObjectStore implements ObjectStore {
    private static final String TOKEN = "sluice-token";
    private static final int MOST_ABORTS = 4;
    private static final int MOST_VERSIONS = 20;

    private final S3AsyncClient client;
    private final boolean closesClient;
    private final String bucket;
    private final Told told;
    private final Retries retries;
    private final Listings listings;
    private final Duration attemptTimeout;
    private final boolean onlyNew;
    private final @Nullable String encryption;
    private final @Nullable String encryptionKey;
    private final Consumer<Consumer<Tagging>> tagging;

    /** Not where it says otherwise: then each piece is compared, and what the store makes of their checksums. */
    private volatile boolean sumsWhole = true;

    private S3ObjectStore(Builder builder) {
        S3AsyncClient given = builder.client;
        this.client = given != null ? given : builder.newClient();
        this.closesClient = given == null;
        this.bucket = builder.bucket;
        this.told = new Told(builder.metrics);
        this.retries = new Retries(builder.attempts, builder.pauseMillis, told);
        this.attemptTimeout = builder.attemptTimeout;
        this.listings = new Listings(client, bucket, retries, this::eachTime);
        this.onlyNew = builder.onlyNew;
        this.encryption = builder.encryption;
        this.encryptionKey = builder.encryptionKey;
        Tagging tags = Tagging.builder()
                .tagSet(builder.tags.entrySet().stream()
                        .map(tag -> Tag.builder()
                                .key(tag.getKey())
                                .value(tag.getValue())
                                .build())
                        .toList())
                .build();
        this.tagging = tags.tagSet().isEmpty() ? request -> {} : request -> request.accept(tags);
    }

    /** {@return a builder of a store that puts objects into {@code bucket}, which is there} */
    public static Builder builder(String bucket) {
        return new Builder(bucket);
    }

    // ---- requests

    private void eachTime(AwsRequestOverrideConfiguration.Builder request) {
        request.apiCallAttemptTimeout(attemptTimeout);
    }

    private static Map<String, String> metadata(Target target) {
        Map<String, String> metadata = new HashMap<>(target.metadata());
        metadata.put(TOKEN, target.token());
        return metadata;
    }

    @Override
    public CompletableFuture<String> create(Target target) {
        boolean[] again = {false};
        return retries.trying("CreateMultipartUpload", () -> {
            CompletableFuture<CreateMultipartUploadResponse> made = create(target, sumsWhole);
            boolean lost = again[0];
            again[0] = true;
            return made.thenCompose(answer -> lost && target.ownKey()
                    ? dropOthers(target.key(), answer.uploadId())
                    : CompletableFuture.completedFuture(answer.uploadId()));
        });
    }

    /** @param whole whether the store is asked for a checksum of the whole object; once more without where it refuses that */
    private CompletableFuture<CreateMultipartUploadResponse> create(Target target, boolean whole) {
        return client.createMultipartUpload(request -> {
                    request.bucket(bucket)
                            .key(target.key())
                            .contentType(target.contentType())
                            .metadata(metadata(target))
                            .serverSideEncryption(encryption)
                            .ssekmsKeyId(encryptionKey)
                            .checksumAlgorithm(ChecksumAlgorithm.CRC32)
                            .checksumType(whole ? ChecksumType.FULL_OBJECT : null)
                            .overrideConfiguration(this::eachTime);
                    tagging.accept(request::tagging);
                })
                .handle((answer, failure) -> {
                    if (failure != null) {
                        boolean isRefused = Retries.isStatus(failure, 400) || Retries.isStatus(failure, 501);
                        return whole && isRefused && !Retries.mayPass(Retries.unwrap(failure))
                                ? create(target, false)
                                : CompletableFuture.<CreateMultipartUploadResponse>failedFuture(failure);
                    }
                    sumsWhole = sumsWhole && answer.checksumType() == ChecksumType.FULL_OBJECT;
                    return CompletableFuture.completedFuture(answer);
                })
                .thenCompose(Function.identity());
    }

    /** An answer got lost, and with it maybe the name of an upload under a key that is nobody else's. */
    private CompletableFuture<String> dropOthers(String key, String id) {
        return listings.uploads(
                        key,
                        upload -> upload.key().equals(key) && !upload.uploadId().equals(id))
                .thenCompose(others -> Listings.all(others, other -> abort(new Upload(other.key(), other.uploadId()))))
                .handle((done, failure) -> id); // a sweep finds what is left
    }

    @Override
    public CompletableFuture<Piece> upload(Target target, String id, int number, Segment body) {
        String crc32 = body.crc32();
        return told.sending(body, retries.trying("UploadPart", () -> {
            CompletableFuture<UploadPartResponse> sent = client.uploadPart(
                    request -> request.bucket(bucket)
                            .key(target.key())
                            .uploadId(id)
                            .partNumber(number)
                            .contentLength(body.size())
                            .checksumCRC32(crc32)
                            .overrideConfiguration(this::eachTime),
                    new SegmentBody(body));
            CompletableFuture<Piece> piece = sent.thenApply(answer -> {
                ChecksumException.requireSame(crc32, answer.checksumCRC32());
                return new Piece(number, answer.eTag(), crc32);
            });
            piece.whenComplete((done, cause) -> sent.cancel(true)); // which one made of it does not do by itself
            return piece;
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
        boolean whole = sumsWhole;
        CompletableFuture<Stored> made = retries.trying(
                        "CompleteMultipartUpload",
                        () -> client.completeMultipartUpload(request -> request.bucket(bucket)
                                .key(target.key())
                                .uploadId(id)
                                .multipartUpload(upload -> upload.parts(parts))
                                .checksumCRC32(whole ? crc32 : null)
                                .checksumType(whole ? ChecksumType.FULL_OBJECT : null)
                                .ifNoneMatch(onlyNew ? "*" : null)
                                .overrideConfiguration(this::eachTime)))
                .thenApply(
                        answer -> { // not tried again: the upload is over, and NoSuchUpload would hide this
                            String stored = answer.checksumCRC32();
                            if (answer.checksumType() == ChecksumType.FULL_OBJECT) {
                                ChecksumException.requireSame(crc32, stored);
                            } else if (stored != null && stored.endsWith("-" + pieces.size())) {
                                ChecksumException.requireSame(ofPieces(pieces), stored);
                            }
                            return new Stored(target.key(), answer.eTag(), answer.versionId(), size, crc32);
                        });
        return settled(target, size, crc32, made);
    }

    /** {@return the checksum of their checksums, as stores that know none of whole objects have it} */
    private static String ofPieces(List<Piece> pieces) {
        CRC32 crc = new CRC32();
        pieces.forEach(piece -> crc.update(Base64.getDecoder().decode(piece.crc32())));
        return Segment.base64(crc) + '-' + pieces.size();
    }

    @Override
    public CompletableFuture<Stored> put(Target target, Segment body) {
        String crc32 = body.crc32();
        return settled(
                target,
                body.size(),
                crc32,
                told.sending(
                        body,
                        retries.trying(
                                "PutObject",
                                () -> client.putObject(
                                                request -> {
                                                    request.bucket(bucket)
                                                            .key(target.key())
                                                            .contentType(target.contentType())
                                                            .contentLength(body.size())
                                                            .metadata(metadata(target))
                                                            .serverSideEncryption(encryption)
                                                            .ssekmsKeyId(encryptionKey)
                                                            .checksumCRC32(crc32)
                                                            .ifNoneMatch(onlyNew ? "*" : null)
                                                            .overrideConfiguration(this::eachTime);
                                                    tagging.accept(request::tagging);
                                                },
                                                new SegmentBody(body))
                                        .thenApply(answer -> {
                                            ChecksumException.requireSame(crc32, answer.checksumCRC32());
                                            return new Stored(
                                                    target.key(),
                                                    answer.eTag(),
                                                    answer.versionId(),
                                                    body.size(),
                                                    crc32);
                                        }))));
    }

    /** It may have been done and the answer lost: then the object is there, with its token. */
    private CompletableFuture<Stored> settled(Target target, long size, String crc32, CompletableFuture<Stored> made) {
        return made.handle((stored, failure) -> failure == null || Retries.unwrap(failure) instanceof ChecksumException
                        ? made
                        : head(target)
                                .handle((found, ignored) -> {
                                    if (found == null) {
                                        return made;
                                    }
                                    ChecksumException.requireSame(size, found.contentLength());
                                    return CompletableFuture.completedFuture(
                                            new Stored(target.key(), found.eTag(), found.versionId(), size, crc32));
                                })
                                .thenCompose(Function.identity()))
                .thenCompose(Function.identity());
    }

    /** {@return what there is with this token, or null} */
    private CompletableFuture<@Nullable HeadObjectResponse> head(Target target) {
        return retries.trying(
                        "HeadObject",
                        () -> Listings.unlessGone(client.headObject(request ->
                                request.bucket(bucket).key(target.key()).overrideConfiguration(this::eachTime))))
                .thenApply(found ->
                        found != null && target.token().equals(found.metadata().get(TOKEN)) ? found : null);
    }

    /** For good where the bucket keeps versions; and again there, for what a request that was repeated has written twice. */
    @Override
    public CompletableFuture<Void> retract(Target target) {
        return retract(target, MOST_VERSIONS);
    }

    private CompletableFuture<Void> retract(Target target, int left) {
        return head(target)
                .thenCompose(found -> found == null
                        ? CompletableFuture.completedFuture(null)
                        : retries.trying(
                                        "DeleteObject",
                                        () -> client.deleteObject(request -> request.bucket(bucket)
                                                .key(target.key())
                                                .versionId(found.versionId())
                                                .overrideConfiguration(this::eachTime)))
                                .thenCompose(deleted -> found.versionId() == null || left == 1
                                        ? CompletableFuture.completedFuture(null)
                                        : retract(target, left - 1)));
    }

    /** Again, until the store knows it no more: a piece may have come just then. */
    @Override
    public CompletableFuture<Void> abort(Upload upload) {
        return abort(upload, MOST_ABORTS);
    }

    private CompletableFuture<Void> abort(Upload upload, int left) {
        return retries.trying(
                        "AbortMultipartUpload",
                        () -> Listings.unlessGone(client.abortMultipartUpload(request -> request.bucket(bucket)
                                .key(upload.key())
                                .uploadId(upload.id())
                                .overrideConfiguration(this::eachTime))))
                .thenCompose(aborted -> aborted == null
                        ? CompletableFuture.completedFuture(null)
                        : retries.trying("ListParts", () -> Listings.unlessGone(listings.parts(upload, null))))
                .thenCompose(there ->
                        there == null || left == 1 ? CompletableFuture.completedFuture(null) : abort(upload, left - 1));
    }

    @Override
    public CompletableFuture<List<Upload>> idleUploads(String prefix, Instant limit) {
        return listings.idleUploads(prefix, limit);
    }

    @Override
    public CompletableFuture<List<String>> oldObjects(String prefix, Instant limit) {
        return listings.oldObjects(prefix, limit);
    }

    @Override
    public CompletableFuture<byte @Nullable []> read(String key) {
        return retries.trying(
                        "GetObject",
                        () -> Listings.unlessGone(client.getObject(
                                request -> request.bucket(bucket).key(key).overrideConfiguration(this::eachTime),
                                AsyncResponseTransformer.toBytes())))
                .thenApply(found -> found == null ? null : found.asByteArray());
    }

    @Override
    public StoreMetrics metrics() {
        return told.metrics();
    }

    @Override
    public void close() {
        if (closesClient) {
            client.close();
        }
    }

    /** Collects settings. Not thread-safe. */
    public static final class Builder {
        private final String bucket;
        private @Nullable S3AsyncClient client;
        private @Nullable URI endpoint;
        private @Nullable Region region;
        private @Nullable AwsCredentialsProvider credentials;
        private boolean pathStyle;
        private int attempts = 6;
        private long pauseMillis = 100;
        private Duration attemptTimeout = Duration.ofSeconds(60);
        private boolean onlyNew;
        private @Nullable String encryption;
        private @Nullable String encryptionKey;
        private Map<String, String> tags = Map.of();
        private StoreMetrics metrics = StoreMetrics.NONE;

        private Builder(String bucket) {
            this.bucket = Objects.requireNonNull(bucket, "bucket");
        }

        /**
         * {@return this builder; requests go through {@code value}, which stays the caller's: {@link #endpoint}, {@link #region},
         * {@link #credentials} and {@link #pathStyle} are ignored then. Turn off its retries and its own checksums}
         */
        public Builder client(S3AsyncClient value) {
            this.client = Objects.requireNonNull(value, "client");
            return this;
        }

        /** {@return this builder; the store is at {@code value}, AWS by default} */
        public Builder endpoint(URI value) {
            this.endpoint = Objects.requireNonNull(value, "endpoint");
            return this;
        }

        /** {@return this builder; the region, as {@code eu-central-1}; by default that of the SDK's usual places} */
        public Builder region(String value) {
            this.region = Region.of(value);
            return this;
        }

        /**
         * {@return this builder; credentials come from {@code value}, which is asked for each request, so that they may expire
         * while an upload runs; by default from the SDK's usual places}
         */
        public Builder credentials(AwsCredentialsProvider value) {
            this.credentials = Objects.requireNonNull(value, "credentials");
            return this;
        }

        /** {@return this builder; whether the bucket is in the path, not in the host name; by default it is not} */
        public Builder pathStyle(boolean value) {
            this.pathStyle = value;
            return this;
        }

        /** {@return this builder; a request fails after {@code value} attempts, 1 or more; 6 by default} */
        public Builder attempts(int value) {
            this.attempts = atLeastOne(value, "attempts");
            return this;
        }

        /**
         * {@return this builder; before the second attempt at most {@code value} milliseconds go by, 1 or more, five times as
         * many where the store is busy, and twice as many before each further one; 100 by default}
         */
        public Builder pauseMillis(int value) {
            this.pauseMillis = atLeastOne(value, "pauseMillis");
            return this;
        }

        /** {@return this builder; an attempt may take {@code value}, more than 0; 60 seconds by default} */
        public Builder attemptTimeout(Duration value) {
            atLeastOne((int) Math.min(value.toMillis(), Integer.MAX_VALUE), "attemptTimeout in milliseconds");
            this.attemptTimeout = value;
            return this;
        }

        /**
         * {@return this builder; an object that is there is not replaced, as it is by default ({@code If-None-Match: *}): the
         * form fails with a {@link FileAlreadyExistsException}}
         */
        public Builder onlyNew() {
            this.onlyNew = true;
            return this;
        }

        /** {@return this builder; the store encrypts with keys of its own, by default as the bucket says} */
        public Builder encrypted() {
            this.encryption = ServerSideEncryption.AES256.toString();
            return this;
        }

        /** {@return this builder; the store encrypts with the key {@code kmsKey} of its key service, by default as the bucket says} */
        public Builder encrypted(String kmsKey) {
            this.encryption = ServerSideEncryption.AWS_KMS.toString();
            this.encryptionKey = Objects.requireNonNull(kmsKey, "kmsKey");
            return this;
        }

        /** {@return this builder; objects have these tags; none by default} */
        public Builder tags(Map<String, String> value) {
            this.tags = Map.copyOf(value);
            return this;
        }

        /** {@return this builder; {@code value} is told what this store, and the sinks into it, do} */
        public Builder metrics(StoreMetrics value) {
            this.metrics = Objects.requireNonNull(value, "metrics");
            return this;
        }

        private static int atLeastOne(int value, String name) {
            if (value < 1) {
                throw new IllegalArgumentException(name + " is " + value + ", must be 1 or more");
            }
            return value;
        }

        private S3AsyncClient newClient() {
            S3AsyncClientBuilder made = S3AsyncClient.builder()
                    .region(region)
                    .endpointOverride(endpoint)
                    .forcePathStyle(pathStyle)
                    .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                    .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                    .serviceConfiguration(s3 -> s3.chunkedEncodingEnabled(false).expectContinueEnabled(false))
                    .overrideConfiguration(all -> all.retryStrategy(AwsRetryStrategy.doNotRetry()));
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
