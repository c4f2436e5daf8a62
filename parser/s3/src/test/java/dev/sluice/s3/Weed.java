package dev.sluice.s3;

import dev.sluice.testkit.Installed;
import dev.sluice.testkit.Seaweed;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** The object store of all tests in this JVM. */
public final class Weed {
    public static final String BUCKET = "uploads";
    public static final StaticCredentialsProvider CREDENTIALS =
            StaticCredentialsProvider.create(AwsBasicCredentials.create(Seaweed.USER, Seaweed.SECRET));

    /** Other credentials with the same rights. */
    static final StaticCredentialsProvider LATER =
            StaticCredentialsProvider.create(AwsBasicCredentials.create("later", "secret-of-later"));

    /** For {@code @ExtendWith}: skips tests if the program is not installed. */
    public static final class IsThere implements ExecutionCondition {
        /** Called by JUnit. */
        public IsThere() {}

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            return Installed.condition("SeaweedFS", Seaweed.program().isPresent());
        }
    }

    private static Weed running;

    private final Seaweed store = new Seaweed();

    private static final Map<Integer, S3AsyncClient> CLIENTS = new ConcurrentHashMap<>();

    /** {@return a client for assertions, shared by all tests} */
    static S3AsyncClient shared(int port) {
        return CLIENTS.computeIfAbsent(port, key -> client(URI.create("http://127.0.0.1:" + key)));
    }

    /** {@return the store, which the first call starts} */
    public static synchronized Weed running() throws IOException, InterruptedException {
        if (running == null) {
            running = new Weed();
        }
        return running;
    }

    private Weed() throws IOException, InterruptedException {
        S3AsyncClient client = shared(port());
        await(() -> client.createBucket(request -> request.bucket(BUCKET)).join());
        await(() -> client.putObject(
                        request -> request.bucket(BUCKET).key("first"), AsyncRequestBody.fromString("volumes are made"))
                .join());
    }

    /** Starts a process of the store: {@code master}, {@code volume1} to {@code volume3}, {@code filer} or {@code s3}. */
    public void start(String name) throws IOException {
        store.start(name);
    }

    /** Kills a process of the store, as {@code kill -9} does. */
    public void kill(String name) throws InterruptedException {
        store.kill(name);
    }

    /** Repeats {@code attempt} until it succeeds, for up to two minutes. */
    public static void await(Runnable attempt) throws InterruptedException {
        long since = System.nanoTime();
        for (; ; ) {
            try {
                attempt.run();
                return;
            } catch (RuntimeException | AssertionError e) {
                if (System.nanoTime() - since > TimeUnit.MINUTES.toNanos(2)) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
    }

    /** {@return the address of another gateway to the same store, started by the first call} */
    public synchronized URI secondGateway() throws IOException, InterruptedException {
        URI address = store.secondGateway();
        try (S3AsyncClient other = client(address)) {
            await(() -> other.listBuckets().join());
        }
        return address;
    }

    int port() {
        return store.port();
    }

    /** {@return the address of the gateway} */
    public URI address() {
        return store.address();
    }

    /** {@return a client for assertions} */
    public static S3AsyncClient client(URI address, ExecutionInterceptor... interceptors) {
        return S3AsyncClient.builder()
                .endpointOverride(address)
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .credentialsProvider(CREDENTIALS)
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .overrideConfiguration(all -> List.of(interceptors).forEach(all::addExecutionInterceptor))
                .build();
    }
}
