package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.FormRecord;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.Installed;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.Seaweed;
import dev.sluice.testkit.TestForm;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Tests applications whose forms go to an object store. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ObjectStoreTest {
    private static final String BUCKET = "boot";
    private static final int MIB = 1 << 20;
    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private static Seaweed store;
    private static S3AsyncClient client;

    private final String prefix = "test" + PREFIXES.incrementAndGet() + '/';

    @BeforeAll
    static void startStore() throws IOException, InterruptedException {
        Installed.require("SeaweedFS", Seaweed.program().isPresent());
        store = new Seaweed();
        client = newClient();
        Eventually.passes(
                () -> client.createBucket(request -> request.bucket(BUCKET)).join());
        Eventually.passes(() -> client.putObject(
                        request -> request.bucket(BUCKET).key("first"), AsyncRequestBody.fromString("volumes are made"))
                .join());
    }

    private static S3AsyncClient newClient() {
        return S3AsyncClient.builder()
                .endpointOverride(store.address())
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .credentialsProvider(
                        StaticCredentialsProvider.create(AwsBasicCredentials.create(Seaweed.USER, Seaweed.SECRET)))
                .build();
    }

    @AfterAll
    static void stopStore() {
        if (store != null) {
            client.close();
            store.close();
        }
    }

    /** The kinds of web applications. */
    enum Kind {
        MVC(MvcApplication.class),
        WEBFLUX(WebFluxApplication.class);

        private final Class<?> application;

        Kind(Class<?> application) {
            this.application = application;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Controller.class)
    static class MvcApplication {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({WebFluxTest.Netty.class, Controller.class})
    static class WebFluxApplication {}

    /** A controller for both kinds of applications. */
    @RestController
    static class Controller {
        final CountDownLatch called = new CountDownLatch(1);

        @PostMapping("/upload")
        String upload(StoredForm form) throws IOException {
            called.countDown();
            ObjectStore.Stored file = form.files().get(0).stored();
            return String.join(" ", form.id(), form.text("title"), file.key(), String.valueOf(file.size()));
        }
    }

    private RunningApplication start(Kind kind, String... more) {
        return start(kind, List.of(kind.application), more);
    }

    private RunningApplication start(Kind kind, List<Class<?>> sources, String... more) {
        List<String> properties = new ArrayList<>(List.of(
                RunningApplication.NO_SECURITY,
                "--spring.main.web-application-type=" + (kind == Kind.MVC ? "servlet" : "reactive"),
                "--logging.level.org.springframework.boot.diagnostics=ERROR",
                "--sluice.max-body-bytes=16MB",
                "--sluice.max-part-bytes=16MB",
                "--sluice.s3.bucket=" + BUCKET,
                "--sluice.s3.prefix=" + prefix,
                "--sluice.s3.endpoint=" + store.address(),
                "--sluice.s3.access-key=" + Seaweed.USER,
                "--sluice.s3.secret-key=" + Seaweed.SECRET));
        properties.addAll(List.of(more));
        Stream.of(more)
                .filter(property -> property.endsWith("=none"))
                .map(property -> property.split("=")[0])
                .forEach(unset -> properties.removeIf(property -> property.startsWith(unset)));
        return RunningApplication.start(sources, properties.toArray(String[]::new));
    }

    private static String form(int bytes) {
        return "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nHoliday\r\n"
                + RunningApplication.form(bytes);
    }

    private List<String> keys() {
        return client.listObjectsV2(request -> request.bucket(BUCKET).prefix(prefix)).join().contents().stream()
                .map(S3Object::key)
                .filter(key -> !key.endsWith("/probe"))
                .toList();
    }

    private static void assertNothingHeld(RunningApplication application) throws Exception {
        application.context().getBean(S3Sinks.class).whenIdle().get(1, TimeUnit.MINUTES);
        Eventually.passes(() -> assertEquals(
                0, application.context().getBean(MemoryBudget.class).used()));
        assertEquals(0, application.context().getBean(SpoolDirectory.class).files());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void form_isStoredAndPassedToController(Kind kind) throws Exception {
        try (RunningApplication application = start(kind)) {
            for (int size : List.of(10, 9 * MIB)) {
                HttpResponse<String> response = application.post("/upload", form(size));
                assertEquals(200, response.statusCode(), response.body());
                String[] words = response.body().split(" ");
                assertEquals(List.of("Holiday", String.valueOf(size)), List.of(words[1], words[3]));
                FormRecord record = application
                        .context()
                        .getBean(S3Sinks.class)
                        .find(words[0])
                        .get(1, TimeUnit.MINUTES)
                        .orElseThrow();
                assertEquals(words[2], record.files().get(0).stored().key());
                byte[] stored = client.getObject(
                                request -> request.bucket(BUCKET).key(words[2]), AsyncResponseTransformer.toBytes())
                        .join()
                        .asByteArray();
                assertEquals("x".repeat(size), new String(stored, StandardCharsets.US_ASCII));
            }
            assertNothingHeld(application);
            assertEquals(4, keys().size(), () -> keys().toString());
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void rejectedForm_isNotStored(Kind kind) throws Exception {
        try (RunningApplication application = start(kind, "--sluice.max-part-bytes=9MB")) {
            HttpResponse<String> response = application.post("/upload", form(9 * MIB + 1));
            assertEquals(413, response.statusCode(), response.body());
            assertTrue(response.body().contains("\"limit\":\"maxPartBytes\""), response::body);
            String complete = form(6 * MIB);
            String truncated = complete.substring(0, complete.length() - 20);
            assertEquals(400, application.post("/upload", truncated).statusCode());
            assertEquals(
                    415,
                    application
                            .send("POST", "/upload", "application/json", "{}")
                            .statusCode());
            begin(application, complete, complete.length() - 100).close();
            assertNothingHeld(application);
            assertEquals(
                    1, application.context().getBean(Controller.class).called.getCount(), "the controller was called");
        }
        for (String key : keys()) {
            if (key.startsWith(prefix + ".open/")) { // an intent, which sweeps remove with the tombstone
                continue;
            }
            assertTrue(key.endsWith("/form.json"), key);
            byte[] json = client.getObject(
                            request -> request.bucket(BUCKET).key(key), AsyncResponseTransformer.toBytes())
                    .join()
                    .asByteArray();
            FormRecord tombstone = FormRecord.parse(key.split("/")[1], json);
            assertFalse(tombstone == null || tombstone.isCommitted(), key);
        }
    }

    /** {@return a connection on which the first {@code count} bytes of a form were sent} */
    private static RawHttp begin(RunningApplication application, String body, int count) throws IOException {
        return application
                .connect()
                .send(TestForm.headOf(
                        "POST",
                        "/upload",
                        "Connection: close",
                        "Content-Type: " + RunningApplication.FORM,
                        "Content-Length: " + body.length()))
                .send(body.substring(0, count));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sluice.s3.bucket=missing | the bucket does not exist. | Create the bucket, or correct sluice.s3.bucket.",
                "sluice.s3.access-key=unknown | the store rejects the credentials (403 InvalidAccessKeyId). | Check sluice.s3.access-key",
                "sluice.s3.secret-key=wrong | the store rejects the credentials (403 SignatureDoesNotMatch). | Check sluice.s3.access-key",
                "sluice.s3.endpoint=CLOSED | it cannot be reached. | Start the store, or correct sluice.s3.endpoint.",
                "sluice.s3.endpoint=localhost:8333 | it is not a URL such as http://localhost:8333 | configuration property 'sluice.s3.endpoint'",
                "sluice.s3.secret-key=none | but only the access key is set. | Set both or neither.",
                "sluice.s3.access-key=none | but only the secret key is set. | Set both or neither.",
                "sluice.s3.segment-bytes=1MB | must be 5242880 to 1073741824 | configuration property 'sluice.s3.segment-bytes'",
                "sluice.s3.sweep-interval=999us | it must be 1ms or more | configuration property 'sluice.s3.sweep-interval'",
                "sluice.s3.sweep-intervall=1h | [sluice.s3.sweep-intervall] were left unbound | Update your application's configuration",
                "sluice.memory-budget-bytes=1MB | The memory budget is too small for the object store | Raise sluice.memory-budget-bytes",
                "spring.servlet.multipart.resolve-lazily=false | a form can only stream into the object store if | Remove the property, or remove sluice.s3.bucket",
            })
    void unusableStore_endsStart_withReadableReport(String setting, String reason, String action, CapturedOutput output)
            throws IOException {
        try (Socket closed = new Socket()) {
            // The port refuses connections, and no other process can use it.
            closed.bind(new InetSocketAddress("127.0.0.1", 0));
            String property = "--" + setting.replace("CLOSED", "http://127.0.0.1:" + closed.getLocalPort());
            assertThrows(Exception.class, () -> start(Kind.MVC, property).close());
        }
        assertTrue(output.getAll().contains("APPLICATION FAILED TO START"), output::getAll);
        assertTrue(output.getAll().contains(reason), output::getAll);
        assertTrue(output.getAll().contains(action), output::getAll);
        assertFalse(output.getAll().contains("\tat "), output::getAll);
        assertFalse(output.getAll().contains("'" + Seaweed.USER + "'"), output::getAll);
        assertFalse(output.getAll().contains(Seaweed.SECRET), output::getAll);
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnResolver {
        @Bean
        MultipartResolver multipartResolver() {
            return new StandardServletMultipartResolver();
        }
    }

    @Test
    void resolverOfApplication_logsAWarning(CapturedOutput output) {
        start(Kind.MVC, List.of(MvcApplication.class, OwnResolver.class)).close();
        assertTrue(output.getAll().contains("for example with setResolveLazily(true)"), output::getAll);
    }

    /** A class that uses proxies of the beans. */
    static final class Injected {
        final S3Sinks sinks;
        final ObjectStore store;

        Injected(@Lazy S3Sinks sinks, @Lazy ObjectStore store) {
            this.sinks = sinks;
            this.store = store;
        }
    }

    @Test
    void storeBeans_injectedLazily_work() throws Exception {
        try (RunningApplication application = start(Kind.MVC, List.of(MvcApplication.class, Injected.class))) {
            Injected injected = application.context().getBean(Injected.class);
            assertTrue(AopUtils.isCglibProxy(injected.sinks));
            assertTrue(AopUtils.isJdkDynamicProxy(injected.store));
            injected.sinks.probe().get(1, TimeUnit.MINUTES);
            assertEquals(32, injected.sinks.newForm().id().length());
            assertNull(injected.store.read(prefix + "absent").get(1, TimeUnit.MINUTES));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnClient {
        @Bean
        S3AsyncClient ownClient() {
            return newClient();
        }
    }

    @Test
    void clientOfApplication_isUsed(CapturedOutput output) throws Exception {
        String[] none = Stream.of("endpoint", "access-key", "secret-key")
                .map(property -> "--sluice.s3." + property + "=none")
                .toArray(String[]::new);
        List<Class<?>> sources = List.of(MvcApplication.class, OwnClient.class);
        assertThrows(Exception.class, () -> start(Kind.MVC, sources).close());
        assertTrue(output.getAll().contains("Remove the property or the bean"), output::getAll);
        try (RunningApplication application = start(Kind.MVC, sources, none)) {
            assertEquals(200, application.post("/upload", form(10)).statusCode());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherClient {
        @Bean
        S3AsyncClient otherClient() {
            return newClient();
        }
    }

    @Test
    void twoClientsOfApplication_endStart(CapturedOutput output) {
        List<Class<?>> sources = List.of(MvcApplication.class, OwnClient.class, OtherClient.class);
        assertThrows(Exception.class, () -> start(Kind.MVC, sources).close());
        assertTrue(output.getAll().contains("S3AsyncClient: [ownClient, otherClient]"), output::getAll);
        assertTrue(output.getAll().contains("Mark one of them with @Primary"), output::getAll);
    }

    @Test
    void closedStore_failsAtMostOneSweep(CapturedOutput output) throws Exception {
        List<Class<?>> sources = List.of(MvcApplication.class, Swept.class);
        try (RunningApplication application = start(Kind.MVC, sources, "--sluice.s3.sweep-interval=1ms")) {
            Swept swept = application.context().getBean(Swept.class);
            Eventually.passes(() -> assertTrue(swept.sweeps.get() > 2));
            application.context().getBean(ObjectStore.class).close();
            Thread.sleep(200);
            assertTrue(output.getAll().split("It will be repeated").length <= 2, output::getAll);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void health_followsStore(Kind kind) throws Exception {
        String details = "--management.endpoint.health.show-components=always";
        try (RunningApplication application = start(kind, details)) {
            HttpResponse<String> response = application.send("GET", "/actuator/health", "text/plain", "");
            assertEquals(200, response.statusCode());
            assertTrue(response.body().contains("\"sluiceS3\":{\"status\":\"UP\""), response::body);
            assertEquals(
                    0.0,
                    application
                            .context()
                            .getBean(MeterRegistry.class)
                            .get("sluice.store.sending")
                            .gauge()
                            .value());
        }
        try (RunningApplication application =
                start(kind, details, "--sluice.s3.check-at-start=false", "--sluice.s3.bucket=missing")) {
            HttpResponse<String> response = application.send("GET", "/actuator/health", "text/plain", "");
            assertEquals(503, response.statusCode());
            assertTrue(response.body().contains("\"sluiceS3\":{\"status\":\"DOWN\""), response::body);
        }
        for (String off : List.of("sluice-s3", "defaults")) {
            try (RunningApplication application =
                    start(kind, details, "--management.health." + off + ".enabled=false")) {
                HttpResponse<String> response = application.send("GET", "/actuator/health", "text/plain", "");
                assertFalse(response.body().contains("sluiceS3"), response::body);
            }
        }
    }

    /** Counts the sweeps, and the uploads that they have aborted. */
    static final class Swept implements StoreMetrics {
        private final AtomicInteger sweeps = new AtomicInteger();
        private final AtomicInteger uploads = new AtomicInteger();

        @Override
        public void swept(int aborted, int objects) {
            sweeps.incrementAndGet();
            uploads.addAndGet(aborted);
        }
    }

    @Test
    void pausedForm_isSweptByOtherNode() throws Exception {
        try (RunningApplication paused = start(Kind.MVC)) {
            try (RawHttp upload = begin(paused, form(10 * MIB), 9 * MIB)) {
                Eventually.passes(() -> assertEquals(1, unfinishedUploads()));
                try (RunningApplication sweeping = start(
                        Kind.MVC,
                        List.of(MvcApplication.class, Swept.class),
                        "--sluice.s3.sweep-interval=100ms",
                        "--sluice.s3.max-age=1ms")) {
                    Swept swept = sweeping.context().getBean(Swept.class);
                    Eventually.passes(() -> assertEquals(1, swept.uploads.get()));
                    assertEquals(0, unfinishedUploads());
                }
                assertTrue(upload.channel().isOpen());
            }
            assertNothingHeld(paused);
        }
    }

    private int unfinishedUploads() {
        return (int) client.listMultipartUploads(request -> request.bucket(BUCKET)).join().uploads().stream()
                .filter(upload -> upload.key().startsWith(prefix))
                .count();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shutdown_waitsForRunningForm(Kind kind) throws Exception {
        String body = form(10 * MIB);
        RunningApplication application = start(kind, "--server.shutdown=graceful");
        S3Sinks sinks = application.context().getBean(S3Sinks.class);
        CompletableFuture<Void> closed;
        RawHttp.Response response;
        try (RawHttp upload = begin(application, body, 9 * MIB)) {
            Eventually.passes(() -> assertEquals(1, unfinishedUploads()));
            closed = CompletableFuture.runAsync(application::close);
            Eventually.passes(() -> assertFalse(isAccepting(application)));
            response = upload.send(body.substring(9 * MIB)).response();
        }
        assertEquals(200, response.status(), response::body);
        closed.get(1, TimeUnit.MINUTES);
        assertTrue(sinks.whenIdle().isDone());
        assertEquals(2, keys().size(), () -> keys().toString());
    }

    private static boolean isAccepting(RunningApplication application) {
        try (Socket socket = new Socket("127.0.0.1", application.port())) {
            socket.setSoTimeout(200);
            socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return socket.getInputStream().read() >= 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void shutdown_withFormThatNeverEnds_isBounded(CapturedOutput output) throws Exception {
        RunningApplication application = start(Kind.MVC, "--sluice.s3.shutdown-timeout=200ms");
        application.context().getBean(S3Sinks.class).newForm().admit();
        application.close();
        assertTrue(output.getAll().contains("after 200 ms (sluice.s3.shutdown-timeout)"), output::getAll);
    }
}
