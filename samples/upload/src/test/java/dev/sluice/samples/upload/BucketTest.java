package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.netty.FormReceiver;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.s3.Weed;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.Seaweed;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.S3Object;

/** {@code serve --s3}, which stores the files in an object store. */
@ExtendWith(Weed.IsThere.class)
class BucketTest {
    @TempDir
    Path root;

    @BeforeEach
    void setCredentials() {
        System.setProperty("aws.accessKeyId", Seaweed.USER);
        System.setProperty("aws.secretAccessKey", Seaweed.SECRET);
    }

    @Test
    void serve_storesFilesAsObjects() throws Exception {
        Weed weed = Weed.running();
        byte[] large = TestForm.noise(9 << 20, 1);
        byte[] small = TestForm.noise(10, 2);
        ServerConfig config = ServerConfig.of(root).withBucket(new ServerConfig.Bucket(weed.address(), Weed.BUCKET));
        try (UploadServer server = UploadServer.start(config);
                S3AsyncClient client = Weed.client(weed.address())) {
            ServerResponse rejected = JavaHttpClient.post(
                    server.uri().resolve("/upload"),
                    TestForm.CONTENT_TYPE,
                    new TestForm().file("f", "large.bin", large).open());
            assertEquals(400, rejected.status());
            Weed.await(() -> assertEquals(0, files(client)));
            ServerResponse response = JavaHttpClient.post(
                    server.uri().resolve("/upload"),
                    TestForm.CONTENT_TYPE,
                    new TestForm()
                            .field("comment", "c")
                            .file("f", "large.bin", large)
                            .file("g", "small.bin", small)
                            .body());
            assertEquals(200, response.status(), response.toString());
            assertTrue(response.json().at("/parts/0/etag").isMissingNode());
            byte[][] sent = {large, small};
            for (int i = 0; i < sent.length; i++) {
                JsonNode part = response.json().get("parts").get(i + 1);
                CRC32 crc = new CRC32();
                crc.update(sent[i]);
                byte[] checksum =
                        ByteBuffer.allocate(4).putInt((int) crc.getValue()).array();
                assertEquals(
                        Base64.getEncoder().encodeToString(checksum),
                        part.get("crc32").asText());
                assertEquals(TestForm.sha256(sent[i]), part.get("sha256").asText());
                var object = client.getObject(
                                request -> request.bucket(Weed.BUCKET)
                                        .key(part.get("storedAs").asText()),
                                AsyncResponseTransformer.toBytes())
                        .join();
                assertArrayEquals(sent[i], object.asByteArray());
                assertEquals(object.response().eTag(), part.get("etag").asText());
            }
            String form = response.json().at("/parts/1/storedAs").asText().replaceAll("/[0-9]+$", "");
            Weed.await(() -> assertEquals(
                    List.of(form + "/1", form + "/2", form + "/form.json"),
                    keys(client).stream().filter(key -> key.startsWith(form)).toList()));
        }
    }

    @Test
    void form_waitsTenMinutesForTheStore() throws Exception {
        ServerConfig.Bucket bucket = new ServerConfig.Bucket(URI.create("http://localhost"), "b");
        MemoryBudget memory = MemoryBudget.unlimited();
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/upload");
        request.headers().set("Host", "localhost").set("Content-Type", TestForm.CONTENT_TYPE);
        try (ObjectStore store = UploadServer.open(bucket);
                ServerMetrics metrics = new ServerMetrics(PooledByteBufAllocator.DEFAULT, memory);
                SpoolDirectory spool = SpoolDirectory.open(root)) {
            FormReceiver form = new FormRequest.Services(
                            ServerConfig.of(root),
                            new ReceivedParts.Store(spool, root),
                            S3Sinks.builder(store, memory).build(),
                            metrics)
                    .route(request);
            FormOptions options =
                    form.options(FormOptions.builder(spool, memory).build());
            assertEquals(Duration.ofMinutes(10), options.maxSinkWait());
        }
    }

    @Test
    void shutdown_duringUpload_leavesNothing() throws Exception {
        Weed weed = Weed.running();
        byte[] request = TestForm.request(
                "/upload",
                new TestForm()
                        .file("f", "large.bin", TestForm.noise(9 << 20, 1))
                        .body());
        ServerConfig config = ServerConfig.of(root).withBucket(new ServerConfig.Bucket(weed.address(), Weed.BUCKET));
        try (S3AsyncClient client = Weed.client(weed.address())) {
            long before = files(client);
            RawHttp http;
            try (UploadServer server = UploadServer.start(config)) {
                http = new RawHttp(server.port());
                http.send(request, 0, request.length - 10);
                Weed.await(() -> assertEquals(1, unfinished(client)));
            }
            http.close();
            Weed.await(() -> assertEquals(0, unfinished(client)));
            Weed.await(() -> assertEquals(before, files(client)));
        }
    }

    private static int unfinished(S3AsyncClient client) {
        return client.listMultipartUploads(request -> request.bucket(Weed.BUCKET))
                .join()
                .uploads()
                .size();
    }

    /** {@return the number of objects, without the records of the library (tombstones and intents)} */
    private static long files(S3AsyncClient client) {
        return keys(client).stream()
                .filter(key -> key.matches("uploads/[0-9a-f]{32}/[0-9]+"))
                .count();
    }

    private static List<String> keys(S3AsyncClient client) {
        return client
                .listObjectsV2(request -> request.bucket(Weed.BUCKET).prefix("uploads/"))
                .join()
                .contents()
                .stream()
                .map(S3Object::key)
                .toList();
    }

    @Test
    void sweep_removesLeftovers() throws Exception {
        Weed weed = Weed.running();
        String id = "0123456789abcdef".repeat(2);
        try (S3AsyncClient client = Weed.client(weed.address())) {
            client.putObject(
                            request -> request.bucket(Weed.BUCKET).key("uploads/.open/" + id + "/1"),
                            AsyncRequestBody.fromString(id))
                    .join();
            client.createMultipartUpload(request -> request.bucket(Weed.BUCKET).key("uploads/" + id + "/1"))
                    .join();
            assertEquals("forms ended: 0, uploads aborted: 0, files deleted: 0\n", sweep(weed, "PT1H"));
            TimeUnit.SECONDS.sleep(2); // times of the store are whole seconds
            String swept = sweep(weed, "PT1S");
            assertTrue(swept.matches("forms ended: \\d+, uploads aborted: 1, files deleted: 0\n"), swept);
            assertEquals(0, unfinished(client));
        }
    }

    private static String sweep(Weed weed, String age) {
        StringWriter out = new StringWriter();
        int code = Main.commandLine(new PrintWriter(out), new PrintWriter(out))
                .execute("sweep", "--s3", weed.address().toString(), "--bucket", Weed.BUCKET, "--age", age);
        assertEquals(0, code, out.toString());
        return out.toString();
    }

    @Test
    void unusableStore_isExplainedInOneLine() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            String store = "http://127.0.0.1:" + silent.getLocalPort();
            String reason = "no response within 15 seconds \\(is it an object store\\?\\)";
            CompletableFuture<Void> unanswered = CompletableFuture.allOf(
                    CompletableFuture.runAsync(() -> assertCannotSweep(store, "b", reason)),
                    CompletableFuture.runAsync(() -> assertCannotServe(store, "b", reason)));
            assertOthersAreExplained();
            unanswered.get();
        }
    }

    private void assertOthersAreExplained() throws Exception {
        String there = Weed.running().address().toString();
        String unreachable = "the object store cannot be reached: ";
        assertUnusable("http://127.0.0.1:1", "b", unreachable + "Connection refused: .*:1 \\(is it running\\?\\)");
        assertUnusable(
                "http://nosuch.invalid",
                "b",
                unreachable + "unknown host nosuch.invalid(: .*)? \\(is it running\\?\\)");
        assertUnusable(there, "no-such-bucket", "the bucket does not exist");
        System.setProperty("aws.secretAccessKey", "another");
        assertUnusable(there, Weed.BUCKET, ".*403.* \\(are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY right\\?\\)");
    }

    private void assertUnusable(String store, String bucket, String reason) {
        assertCannotSweep(store, bucket, reason);
        assertCannotServe(store, bucket, reason);
    }

    private static void assertCannotSweep(String store, String bucket, String reason) {
        assertFails("cannot sweep", store, bucket, reason, "sweep");
    }

    private void assertCannotServe(String store, String bucket, String reason) {
        assertFails("cannot use", store, bucket, reason, "serve", "--port=0", "--dir=" + root);
    }

    private static void assertFails(String start, String store, String bucket, String reason, String... command) {
        StringWriter err = new StringWriter();
        List<String> line = new ArrayList<>(List.of(command));
        line.addAll(List.of("--s3", store, "--bucket", bucket));
        int code = Main.commandLine(new PrintWriter(err), new PrintWriter(err)).execute(line.toArray(new String[0]));
        assertEquals(2, code);
        String wrong = start + " the bucket " + bucket + " at " + store + ": ";
        assertTrue(err.toString().startsWith(wrong), err.toString());
        assertTrue(err.toString().substring(wrong.length()).matches(reason + "\n"), err.toString());
    }

    @Test
    void serve_storeWithoutBucket_isUsageError() {
        StringWriter err = new StringWriter();
        int code = Main.commandLine(new PrintWriter(err), new PrintWriter(err)).execute("serve", "--s3", "http://x");
        assertEquals(2, code);
        assertEquals("--s3 requires --bucket and vice versa: pass both\nTry 'sluice serve --help'.\n", err.toString());
    }
}
