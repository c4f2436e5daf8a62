package dev.sluice.spring;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3ObjectStore;
import dev.sluice.s3.S3Sinks;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/**
 * The properties {@code sluice.s3.*}. A property that is null keeps the default of {@link S3ObjectStore.Builder} or {@link
 * S3Sinks.Builder}, with two exceptions: with an endpoint, the region is {@code us-east-1}, and {@code pathStyle} is true. The
 * configuration metadata describes each property.
 */
@ConfigurationProperties(prefix = S3Properties.PREFIX, ignoreUnknownFields = false)
record S3Properties(
        String bucket,
        @Nullable URI endpoint,
        @Nullable String region,
        @DefaultValue("") String prefix,
        @Nullable String accessKey,
        @Nullable String secretKey,
        @Nullable String sessionToken,
        @Nullable Boolean pathStyle,
        @Nullable DataSize segmentBytes,
        @Nullable Integer segmentsInFlight,
        @Nullable Duration maxWait,
        @Nullable Duration maxAge,
        @DefaultValue("false") boolean clientContentType,
        @Nullable Integer attempts,
        @Nullable Duration pause,
        @Nullable Duration attemptTimeout,
        @DefaultValue("false") boolean encrypted,
        @Nullable String kmsKey,
        @DefaultValue Map<String, String> tags,
        @DefaultValue("true") boolean checkAtStart,
        @Nullable Duration sweepInterval,
        @DefaultValue("30s") Duration shutdownTimeout) {
    static final String PREFIX = "sluice.s3";

    private static final String STORE_REGION = "us-east-1";

    private static InvalidConfigurationPropertyValueException invalid(
            String property, @Nullable Object value, @Nullable String reason) {
        return new InvalidConfigurationPropertyValueException(PREFIX + '.' + property, value, String.valueOf(reason));
    }

    /**
     * {@return the store}
     *
     * @param client the client of the application, or null for a client with these properties
     * @param provider the credentials provider of the application, or null
     * @throws InvalidConfigurationPropertyValueException if a property is invalid
     * @throws StoreStartException if properties contradict each other or the client
     */
    S3ObjectStore store(
            @Nullable S3AsyncClient client, @Nullable AwsCredentialsProvider provider, @Nullable StoreMetrics metrics) {
        check();
        S3ObjectStore.Builder store = S3ObjectStore.builder(bucket);
        if (client == null) {
            AwsCredentialsProvider credentials = accessKey == null ? provider : given();
            set("endpoint", endpoint, store::endpoint);
            set("region", region == null && endpoint != null ? STORE_REGION : region, store::region);
            set("access-key", credentials, store::credentials);
            set("path-style", pathStyle == null ? endpoint != null : pathStyle, store::pathStyle);
            set("attempt-timeout", attemptTimeout, store::attemptTimeout);
        } else {
            rejectSettingOfClient("endpoint", endpoint);
            rejectSettingOfClient("region", region);
            rejectSettingOfClient("access-key", accessKey);
            rejectSettingOfClient("path-style", pathStyle);
            rejectSettingOfClient("attempt-timeout", attemptTimeout);
            store.client(client);
        }
        set("attempts", attempts, store::attempts);
        set("pause", pause, value -> store.pauseMillis((int) Math.min(value.toMillis(), Integer.MAX_VALUE)));
        if (kmsKey != null) {
            store.encrypted(kmsKey);
        } else if (encrypted) {
            store.encrypted();
        }
        store.tags(tags);
        set("metrics", metrics, store::metrics);
        return store.build();
    }

    /** Checks the properties. The constructor does not, because Boot would then report a failure to bind. */
    private void check() {
        if (bucket.isBlank()) {
            throw invalid("bucket", bucket, "the name of the bucket is empty");
        } else if (endpoint != null
                && (endpoint.getHost() == null
                        || !String.valueOf(endpoint.getScheme()).matches("https?"))) {
            throw invalid("endpoint", endpoint, "it is not a URL such as http://localhost:8333");
        } else if ((accessKey == null) != (secretKey == null) || sessionToken != null && accessKey == null) {
            throw new StoreStartException( // an exception of Boot would show the values
                    "sluice.s3.access-key and sluice.s3.secret-key belong together, but only "
                            + (accessKey != null
                                    ? "the access key"
                                    : secretKey != null ? "the secret key" : "sluice.s3.session-token")
                            + " is set.",
                    "Set both or neither.",
                    null);
        } else if (sweepInterval != null && sweepInterval.compareTo(Duration.ofMillis(1)) < 0) {
            throw invalid("sweep-interval", sweepInterval, "it must be 1ms or more; remove it to turn sweeps off");
        }
    }

    private static void rejectSettingOfClient(String property, @Nullable Object value) {
        if (value != null) {
            throw new StoreStartException(
                    "sluice.s3." + property + " has no effect, because the application has a bean of the type "
                            + S3AsyncClient.class.getSimpleName() + ", whose own settings apply.",
                    "Remove the property or the bean.",
                    null);
        }
    }

    /** {@return the address of the store, without credentials} */
    @Override
    public String toString() {
        return address();
    }

    private AwsCredentialsProvider given() {
        String key = Objects.requireNonNull(accessKey);
        String secret = Objects.requireNonNull(secretKey);
        AwsCredentials credentials = sessionToken == null
                ? AwsBasicCredentials.create(key, secret)
                : AwsSessionCredentials.create(key, secret, sessionToken);
        return StaticCredentialsProvider.create(credentials);
    }

    /**
     * {@return the sinks}
     *
     * @throws InvalidConfigurationPropertyValueException if a property is invalid
     * @throws StoreStartException if the budget is too small for one segment
     */
    S3Sinks sinks(ObjectStore store, MemoryBudget budget) {
        S3Sinks.Builder sinks = S3Sinks.builder(store, budget).prefix(prefix);
        set(
                "segment-bytes",
                segmentBytes,
                value -> sinks.segmentBytes((int) Math.min(value.toBytes(), Integer.MAX_VALUE)));
        set("segments-in-flight", segmentsInFlight, sinks::segmentsInFlight);
        set("max-wait", maxWait, sinks::maxWait);
        set("max-age", maxAge, sinks::maxAge);
        if (clientContentType) {
            sinks.clientContentType();
        }
        try {
            return sinks.build();
        } catch (IllegalArgumentException e) {
            throw new StoreStartException(
                    "The memory budget is too small for the object store: " + e.getMessage() + '.',
                    "Raise sluice.memory-budget-bytes or the heap of the JVM.",
                    e);
        }
    }

    private static <T> void set(String property, @Nullable T value, Consumer<T> setter) {
        if (value != null) {
            try {
                setter.accept(value);
            } catch (IllegalArgumentException e) {
                throw invalid(property, value, e.getMessage());
            }
        }
    }

    /** {@return the address of the store and the bucket, for messages} */
    String address() {
        return "the bucket " + bucket + (endpoint == null ? "" : " of " + endpoint);
    }
}
