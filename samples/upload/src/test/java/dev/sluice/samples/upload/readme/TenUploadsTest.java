package dev.sluice.samples.upload.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sluice.MultipartException;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.s3.Weed;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.testkit.BrowserForm;
import dev.sluice.testkit.Clamd;
import dev.sluice.testkit.Installed;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.Seaweed;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TenUploads;
import dev.sluice.testkit.TestForm;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** The ten uploads on the servers of the README and the guide. */
@Timeout(300)
class TenUploadsTest {
    private static final long DEFAULT_LIMIT = 64 << 20;

    @TempDir
    Path root;

    private Path stored;
    private Path spool;

    @BeforeEach
    void makeDirectories() throws Exception {
        stored = Files.createDirectory(root.resolve("stored"));
        spool = Files.createDirectory(root.resolve("spool"));
    }

    private String send(int port, String type, long limit) throws Exception {
        return new TenUploads(port, "/upload", "photo", type, limit)
                .send(() -> (long) SpooledFiles.below(stored).size(), () ->
                        (long) SpooledFiles.below(spool).size());
    }

    private static URI upload(int port) {
        return URI.create("http://127.0.0.1:" + port + "/upload");
    }

    @Test
    void serverOfTheReadme_storesPhotos() throws Exception {
        String before = System.setProperty("java.io.tmpdir", spool.toString());
        HttpServer server;
        try {
            server = WholeServer.start(0, stored);
        } finally {
            System.setProperty("java.io.tmpdir", before);
        }
        int port = server.getAddress().getPort();
        assertEquals(TenUploads.all(201), send(port, "image/jpeg", DEFAULT_LIMIT));
        BrowserForm.submit(upload(port), "photo", root);
        assertEquals(6, SpooledFiles.below(stored).size());
        server.stop(0);
    }

    @Test
    void nettyServerOfTheGuide_storesPhotos() throws Exception {
        try (Forms forms = Forms.open(spool, options -> options.maxBodyBytes(1 << 20))) {
            Channel server = new NettyUploads(stored).start(0, forms);
            try {
                int port = ((InetSocketAddress) server.localAddress()).getPort();
                assertEquals(TenUploads.all(200), send(port, "image/jpeg", 1 << 20));
                try (RawHttp other = new RawHttp(port)) {
                    for (String path : List.of("/", "/100%")) {
                        other.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
                        assertEquals(404, other.response().status(), path);
                    }
                }
                String shown = BrowserForm.submit(upload(port).resolve("/upload?album=1"), "photo", root);
                assertTrue(shown.contains("2 photos stored"), shown);
            } finally {
                server.eventLoop()
                        .parent()
                        .shutdownGracefully(0, 5, TimeUnit.SECONDS)
                        .syncUninterruptibly();
            }
        }
    }

    /** The examples of the guide that read a form from a stream. Each stores all files, except PROGRESS, which stores none. */
    enum Example {
        GETTING_STARTED(
                (forms, exchange, type, stored) -> new Guide(forms, stored).stream(exchange.getRequestBody(), type)),
        MIGRATION((forms, exchange, type, stored) ->
                new Guide(forms, stored).receive(exchange.getRequestBody(), type, stored)),
        CHECKSUMS((forms, exchange, type, stored) -> Checksums.receive(forms, exchange.getRequestBody(), type, stored)),
        PROGRESS((forms, exchange, type, stored) -> {
            String length = exchange.getRequestHeaders().getFirst("Content-Length");
            UploadProgress.receive(
                    forms,
                    exchange.getRequestBody(),
                    type,
                    length == null ? -1 : Long.parseLong(length),
                    percent -> assertTrue(percent >= 0 && percent <= 100));
        });

        private interface Code {
            void receive(Forms forms, HttpExchange exchange, String type, Path stored) throws IOException;
        }

        private final Code code;

        Example(Code code) {
            this.code = code;
        }
    }

    @ParameterizedTest
    @EnumSource
    void exampleOfTheGuide_receivesForms(Example example) throws Exception {
        try (Forms forms = Forms.open(spool, options -> options.maxBodyBytes(1 << 20))) {
            String expected = TenUploads.all(200);
            if (example == Example.PROGRESS) {
                expected = expected.replaceAll("\\d stored", "0 stored");
            }
            assertEquals(expected, receive((exchange, type) -> example.code.receive(forms, exchange, type, stored)));
        }
    }

    private interface Receiver {
        void receive(HttpExchange exchange, String type) throws IOException;
    }

    private String receive(Receiver receiver) throws Exception {
        return receive(receiver, () -> (long) SpooledFiles.below(stored).size(), () ->
                (long) SpooledFiles.below(spool).size());
    }

    private String receive(Receiver receiver, Callable<Long> files, Callable<Long> left) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        HttpServer server = serve(receiver, threads);
        try {
            return new TenUploads(server.getAddress().getPort(), "/upload", "photo", "image/jpeg", 1 << 20)
                    .send(files, left);
        } finally {
            server.stop(0);
            threads.shutdown();
            assertTrue(threads.awaitTermination(2, TimeUnit.MINUTES));
        }
    }

    /** Starts a server that answers with the status of each exception. */
    private static HttpServer serve(Receiver receiver, ExecutorService threads) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(threads);
        server.createContext("/upload", exchange -> {
            int status = 200;
            try {
                receiver.receive(exchange, exchange.getRequestHeaders().getFirst("Content-Type"));
            } catch (MultipartException e) {
                status = e.httpStatus();
            }
            exchange.sendResponseHeaders(status, -1);
        });
        server.start();
        return server;
    }

    @Test
    void metricsOfTheGuide_logEachFormThatFails() throws Exception {
        List<String> log = new CopyOnWriteArrayList<>();
        try (Forms forms = RejectedForms.open(spool, log::add)) {
            FormOptions options =
                    forms.options().toBuilder().maxBodyBytes(1 << 20).build();
            receive((exchange, type) -> {
                String address = exchange.getRemoteAddress().getAddress().getHostAddress();
                FormHead head = FormHead.of(exchange.getRequestHeaders()::get, address);
                forms.read(exchange.getRequestBody(), head, options).close();
            });
        }
        assertEquals(
                List.of("LIMIT_EXCEEDED", "LIMIT_EXCEEDED", "TRUNCATED", "TRUNCATED", "MALFORMED", "ABORTED"),
                log.stream()
                        .map(line -> line.replace(" from 127.0.0.1: ", "|").replaceFirst("\\|.*", ""))
                        .toList(),
                log::toString);
        assertTrue(log.get(2).contains("part 1"), log::toString);
    }

    @Test
    void bucketOfTheGuide_storesFiles() throws Exception {
        Installed.require("SeaweedFS", Seaweed.program().isPresent());
        URI address = Weed.running().address();
        System.setProperty("aws.endpointUrl", address.toString());
        System.setProperty("aws.accessKeyId", Seaweed.USER);
        System.setProperty("aws.secretAccessKey", Seaweed.SECRET);
        MemoryBudget budget = MemoryBudget.of(64 << 20);
        try (S3AsyncClient client = Weed.client(address);
                Forms forms = Forms.of(
                        FormOptions.inMemory(budget).maxBodyBytes(1 << 20).build());
                BucketUploads uploads = new BucketUploads(budget)) {
            Receiver receiver = (exchange, type) -> uploads.receive(
                    forms, exchange.getRequestBody(), FormHead.of(exchange.getRequestHeaders()::get, null));
            assertEquals(TenUploads.all(200), receive(receiver, () -> objects(client), budget::used));
        } finally {
            System.clearProperty("aws.endpointUrl");
            System.clearProperty("aws.accessKeyId");
            System.clearProperty("aws.secretAccessKey");
        }
    }

    private static long objects(S3AsyncClient client) {
        return client
                .listObjectsV2(request -> request.bucket(Weed.BUCKET).prefix("incoming/"))
                .join()
                .contents()
                .stream()
                .filter(object -> object.key().matches("incoming/[0-9a-f]{32}/\\d+"))
                .count();
    }

    @Test
    @SuppressWarnings("deprecation") // the replacement in Netty 4.2 is not in Netty 4.1
    void virusScanOfTheGuide_storesScannedFiles() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Clamd clamd = new Clamd(Files.createDirectory(root.resolve("clamd")));
                SpoolDirectory directory = SpoolDirectory.open(spool);
                Forms forms = Forms.of(
                        VirusScan.options(group, clamd.address(), directory, MemoryBudget.of(16 << 20), stored)
                                .toBuilder()
                                .maxBodyBytes(Clamd.MAX_BYTES)
                                .build())) {
            HttpServer server = serve(
                    (exchange, type) ->
                            forms.read(exchange.getRequestBody(), type).close(),
                    threads);
            int port = server.getAddress().getPort();
            assertEquals(TenUploads.all(200), send(port, "image/jpeg", Clamd.MAX_BYTES));
            byte[] infected = new TestForm()
                    .file("photo", "a.jpg", Clamd.MALWARE.getBytes(StandardCharsets.US_ASCII))
                    .body();
            assertEquals(
                    422,
                    JavaHttpClient.post(upload(port), TestForm.CONTENT_TYPE, infected)
                            .status());
            assertEquals(4, SpooledFiles.below(stored).size());
            server.stop(0);
        } finally {
            threads.shutdownNow();
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
    }
}
