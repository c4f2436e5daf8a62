package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** Credentials that expire while an upload runs, a store behind TLS, and one that encrypts. */
@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class AccessTest {
    private static final int MIB = 1 << 20;
    private static final List<File> FILES = List.of(new File("a", 11 * MIB), new File("b", 10));
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    Path directory;

    /** Credentials that expire. The provider returns the expired ones two more times before it returns others. */
    private static final class Rotating implements AwsCredentialsProvider {
        private final AtomicBoolean expired = new AtomicBoolean();
        private final AtomicInteger asked = new AtomicInteger();

        boolean givesOld() {
            return asked.get() <= 2;
        }

        @Override
        public AwsCredentials resolveCredentials() {
            if (expired.get()) {
                asked.incrementAndGet();
            }
            return (givesOld() ? Weed.CREDENTIALS : Weed.LATER).resolveCredentials();
        }
    }

    @Test
    void credentials_expiringDuringAnUpload_areReplaced() throws Exception {
        Rotating credentials = new Rotating();
        try (Bench bench = new Bench(store -> store.credentials(credentials), sinks -> sinks)) {
            bench.proxy.on(
                    request -> {
                        boolean from = request.matches("PUT .*partNumber=2&.*");
                        if (from) {
                            credentials.expired.set(true);
                        }
                        return from && credentials.givesOld();
                    },
                    1,
                    100,
                    FaultProxy.Fault.EXPIRED_TOKEN);
            bench.stored(FILES);
            assertTrue(bench.proxy.faults() >= 2, "faults: " + bench.proxy.faults());
            assertEquals("later", credentials.resolveCredentials().accessKeyId());
        }
    }

    private KeyStore certificate() throws Exception {
        Path file = directory.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-dname",
                        "CN=store",
                        "-ext",
                        "SAN=ip:127.0.0.1",
                        "-keyalg",
                        "EC",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertTrue(keytool.waitFor(1, TimeUnit.MINUTES));
        return KeyStore.getInstance(file.toFile(), PASSWORD);
    }

    private static void start(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // one side has closed the connection
                    }
                },
                "tls");
        thread.setDaemon(true);
        thread.start();
    }

    private interface Work {
        void run() throws IOException;
    }

    /** {@return a listener that decrypts connections to the store} */
    private static SSLServerSocket terminate(KeyStore keys) throws Exception {
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        SSLServerSocket listener = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        int port = Weed.running().port();
        start(() -> {
            while (!listener.isClosed()) {
                Socket client = listener.accept();
                start(() -> {
                    Socket store = new Socket(InetAddress.getLoopbackAddress(), port);
                    start(() -> pump(store, client));
                    pump(client, store);
                });
            }
        });
        return listener;
    }

    private static void pump(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    @Test
    void storeWithTls_isUsedIfItsCertificateIsTrusted() throws Exception {
        KeyStore keys = certificate();
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("store", keys.getCertificate("mykey"));
        trust.init(trusted);
        try (SSLServerSocket listener = terminate(keys);
                S3AsyncClient client = S3AsyncClient.builder()
                        .endpointOverride(URI.create("https://127.0.0.1:" + listener.getLocalPort()))
                        .region(Region.US_EAST_1)
                        .forcePathStyle(true)
                        .credentialsProvider(Weed.CREDENTIALS)
                        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                        .serviceConfiguration(s3 -> s3.chunkedEncodingEnabled(false))
                        .httpClientBuilder(
                                NettyNioAsyncHttpClient.builder().tlsTrustManagersProvider(trust::getTrustManagers))
                        .build()) {
            try (Bench bench = new Bench(store -> store.client(client), sinks -> sinks)) {
                bench.stored(FILES);
                assertEquals(List.of(), bench.proxy.requests(), "requests without TLS");
            }
            URI address = URI.create("https://127.0.0.1:" + listener.getLocalPort());
            try (Bench bench = new Bench(store -> store.endpoint(address).attempts(2), sinks -> sinks)) {
                Throwable cause = bench.failure(FILES);
                assertInstanceOf(IOException.class, cause);
                while (cause != null && !(cause instanceof SSLException)) {
                    cause = cause.getCause();
                }
                assertInstanceOf(SSLException.class, cause, "the client trusts the certificate");
            }
        }
    }

    /** Records and removes the requested encryption, because the store of the tests has no keys. */
    private static final class Encryption implements ExecutionInterceptor {
        private static final List<String> HEADERS =
                List.of("x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id");

        final Set<String> requested = new ConcurrentSkipListSet<>();

        @Override
        public SdkHttpRequest modifyHttpRequest(Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
            SdkHttpRequest request = context.httpRequest();
            List<String> values = HEADERS.stream()
                    .flatMap(header -> request.firstMatchingHeader(header).stream())
                    .toList();
            if (!values.isEmpty()) {
                requested.add(context.request().getClass().getSimpleName() + values);
            }
            return request.copy(changed -> HEADERS.forEach(changed::removeHeader));
        }
    }

    private static Set<String> encryption(UnaryOperator<S3ObjectStore.Builder> set) throws Exception {
        Encryption encryption = new Encryption();
        try (S3AsyncClient client = Weed.client(Weed.running().address(), encryption);
                Bench bench = new Bench(store -> set.apply(store.client(client)), sinks -> sinks)) {
            bench.stored(FILES);
        }
        return encryption.requested;
    }

    @Test
    void objects_areEncryptedAsConfigured() throws Exception {
        assertEquals(Set.of(), encryption(store -> store));
        assertEquals(
                Set.of("CreateMultipartUploadRequest[AES256]", "PutObjectRequest[AES256]"),
                encryption(S3ObjectStore.Builder::encrypted));
        assertEquals(
                Set.of("CreateMultipartUploadRequest[aws:kms, key]", "PutObjectRequest[aws:kms, key]"),
                encryption(store -> store.encrypted("key")));
    }
}
