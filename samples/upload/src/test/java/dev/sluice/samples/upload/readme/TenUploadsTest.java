package dev.sluice.samples.upload.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.samples.upload.TestForm;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.testkit.BrowserForm;
import dev.sluice.testkit.Clamd;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TenUploads;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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
    void pipelineOfTheReadme_countsParts() throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        ExecutorService workers = Executors.newSingleThreadExecutor();
        try (Forms forms = Forms.open(spool, options -> options.maxBodyBytes(1 << 20))) {
            int port = new UploadPipeline(forms, loops, workers).start().getPort();
            assertEquals(TenUploads.all(200).replaceAll("\\d stored", "0 stored"), send(port, "image/jpeg", 1 << 20));
            String shown = BrowserForm.submit(upload(port), "photo", root);
            assertTrue(shown.contains("parts: 4"), shown);
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            workers.shutdown();
        }
    }

    /** Starts a server that answers as the page on errors does. */
    private HttpServer serve(Forms forms, ExecutorService threads) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(threads);
        server.createContext("/upload", exchange -> {
            Guide guide = new Guide(forms, stored);
            guide.answer(exchange.getRequestBody(), exchange.getRequestHeaders().getFirst("Content-Type"));
            exchange.sendResponseHeaders(guide.status(), -1);
        });
        server.start();
        return server;
    }

    @Test
    void deciderOfTheGuide_acceptsOnlyPdf() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Forms forms =
                Forms.open(spool, options -> options.decider(Guide.onlyPdf()).maxBodyBytes(1 << 20))) {
            HttpServer server = serve(forms, threads);
            String expected = TenUploads.all(200)
                    .replace("wrong file type: 200", "wrong file type: 415")
                    .replaceAll("\\d stored", "0 stored");
            assertEquals(expected, send(server.getAddress().getPort(), "application/pdf", 1 << 20));
            server.stop(0);
        } finally {
            threads.shutdownNow();
        }
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
            HttpServer server = serve(forms, threads);
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
