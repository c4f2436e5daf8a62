package dev.sluice.samples.upload.readme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.Boundary;
import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.commons.fileupload.RequestContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the code samples of the guide. */
class GuideTest {
    @TempDir
    Path directory;

    private static InputStream body(TestForm form) {
        return new ByteArrayInputStream(form.body());
    }

    @Test
    @SuppressWarnings("deprecation") // the replacement in Netty 4.2 is not in Netty 4.1
    void virusScan_withoutScanner_acceptsFieldsAndRejectsFiles() throws IOException {
        InetSocketAddress closedPort;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closedPort = (InetSocketAddress) closed.getLocalSocketAddress();
        }
        EventLoopGroup group = new NioEventLoopGroup(1);
        Path files = Files.createDirectory(directory.resolve("files"));
        try (SpoolDirectory spool = SpoolDirectory.open(directory.resolve("spool"));
                Forms forms = Forms.of(VirusScan.options(group, closedPort, spool, MemoryBudget.of(1 << 20), files))) {
            try (MultipartForm form = forms.read(body(new TestForm().field("title", "a")), TestForm.CONTENT_TYPE)) {
                assertEquals("a", form.text("title"));
            }
            InputStream file = body(new TestForm().file("photo", "a.jpg", new byte[] {1, 2}));
            MultipartException thrown =
                    assertThrows(MultipartException.class, () -> forms.read(file, TestForm.CONTENT_TYPE));
            assertEquals(503, thrown.httpStatus());
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        }
        assertEquals(List.of(), SpooledFiles.below(files));
    }

    @Test
    void handwrittenBody_isRead_andRejectedIfTruncated() throws Exception {
        HttpServer server = WholeServer.start(0, directory);
        URI uploads = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/upload");
        HttpClient client = HttpClient.newHttpClient();
        try (Forms forms = Forms.open()) {
            // @start region="testing"
            String type = "multipart/form-data; boundary=x";
            String head = "--x\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n\r\n";
            InputStream in = new ByteArrayInputStream((head + "the bytes\r\n--x--\r\n").getBytes(UTF_8));
            try (MultipartForm form = forms.read(in, type)) {
                assertEquals("the bytes", form.file("photo").text());
            }
            HttpRequest cutShort = HttpRequest.newBuilder(uploads)
                    .header("Content-Type", type)
                    .POST(BodyPublishers.ofString(head + "the by"))
                    .build();
            assertEquals(400, client.send(cutShort, BodyHandlers.discarding()).statusCode());
            // @end
        } finally {
            server.stop(0);
        }
    }

    @Test
    void encodedForm_isRead() throws IOException {
        ByteBuf photo = Unpooled.wrappedBuffer(new byte[] {1, 2});
        ByteBuf body = Unpooled.buffer();
        String type = SendForm.encode(List.of(photo).iterator(), bytes -> {
            body.writeBytes(bytes);
            bytes.release();
        });
        try (Forms forms = Forms.open();
                MultipartForm form = forms.read(new ByteBufInputStream(body), type)) {
            assertArrayEquals(new byte[] {1, 2}, form.file("photo").bytes());
        }
    }

    @Test
    void sentForm_isAccepted() throws Exception {
        HttpServer server = WholeServer.start(0, directory);
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/upload");
        Path photo = Files.write(directory.resolve("photo.jpg"), new byte[] {1, 2});
        assertEquals(201, SendForm.send(uri, photo).statusCode());
        server.stop(0);
        assertEquals(2, SpooledFiles.below(directory).size());
    }

    @Test
    void receivedForm_truncated_isRejectedWithItsReason() throws Exception {
        MultipartBody body = MultipartBody.builder()
                .field("title", "Holiday")
                .file("photo", "a.jpg", "image/jpeg", Content.of(new byte[2]))
                .build();
        byte[] cut = "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nHoli".getBytes(UTF_8);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", body.contentType());
            exchange.sendResponseHeaders(200, body.contentLength().orElseThrow());
            body.writeTo(exchange.getResponseBody());
            exchange.close();
        });
        server.createContext("/cut", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "multipart/form-data; boundary=x");
            exchange.sendResponseHeaders(200, cut.length);
            exchange.getResponseBody().write(cut);
            exchange.close();
        });
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (Forms forms = Forms.open()) {
            HttpClient client = HttpClient.newHttpClient();
            HttpRequest request = HttpRequest.newBuilder(uri).build();
            assertEquals("Holiday, 2 bytes", SendForm.receive(client, request, forms, Runnable::run));
            HttpRequest malformed = HttpRequest.newBuilder(uri.resolve("/cut")).build();
            assertEquals("rejected: TRUNCATED", SendForm.receive(client, malformed, forms, Runnable::run));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void sentContents_areRead() throws IOException {
        Path clip = Files.write(directory.resolve("a;b.mp4"), new byte[3]);
        MultipartBody body = SendForm.contents(new byte[2], clip, InputStream::nullInputStream);
        MultipartBody replaced = SendForm.replaced(clip);
        MultipartBody related = SendForm.related(new byte[4]);
        try (Forms forms = Forms.open();
                InputStream content = body.inputStream();
                InputStream photo = replaced.inputStream();
                MultipartForm first = forms.read(content, body.contentType());
                MultipartForm second = forms.read(photo, replaced.contentType());
                MultipartReader parts =
                        MultipartReader.create(related.inputStream(), Boundary.anyMultipart(related.contentType()))) {
            assertEquals("{\"album\": 7}", first.text("meta"));
            assertEquals(3, first.file("video").size());
            assertEquals("a_b.mp4", second.file("photo").filename());
            assertEquals("application/json", parts.nextPart().contentType());
            assertEquals("image/png", parts.nextPart().contentType());
            assertNull(parts.nextPart());
        }
    }

    @Test
    void relayedForm_hasNoPassword() throws IOException {
        TestForm form = new TestForm().field("password", "secret").field("title", "Sea");
        ByteBuf body = Unpooled.buffer();
        String type = RelayForm.relay(
                TestForm.CONTENT_TYPE,
                List.of(Unpooled.wrappedBuffer(form.body())).iterator(),
                bytes -> {
                    body.writeBytes(bytes);
                    bytes.release();
                });
        try (Forms forms = Forms.open();
                MultipartForm relayed = forms.read(new ByteBufInputStream(body), type)) {
            assertEquals(Map.of("title", List.of("Sea")), relayed.texts());
        }
    }

    @Test
    void stream_isReadAndFileIsKept() throws IOException {
        try (Forms forms = Forms.open()) {
            Guide guide = new Guide(forms, directory);
            TestForm form = new TestForm().field("title", "Sea").file("photo", "../x", new byte[] {1, 2});
            assertEquals("Sea", guide.stream(body(form), TestForm.CONTENT_TYPE));
            assertEquals(2, Files.size(SpooledFiles.below(directory).get(0)));
            TestForm untitled = new TestForm().file("photo", "b.jpg", new byte[3]);
            MultipartException missing =
                    assertThrows(MultipartException.class, () -> guide.stream(body(untitled), TestForm.CONTENT_TYPE));
            assertEquals(400, missing.httpStatus());
            assertEquals("title", missing.fieldName());
        }
    }

    @Test
    void error_hasStatusAndMessage() throws IOException {
        try (Forms forms = Forms.open(directory, options -> options.maxBodyBytes(1000))) {
            Guide guide = new Guide(forms, directory);
            MultipartException noType =
                    assertThrows(MultipartException.class, () -> forms.read(InputStream.nullInputStream(), null));
            assertEquals(415, noType.httpStatus());
            assertEquals("received 1 parts", guide.answer(body(new TestForm().field("a", "1")), TestForm.CONTENT_TYPE));
            assertEquals(
                    "The limit is 1000 bytes.",
                    guide.answer(body(new TestForm().file("f", "f", new byte[1000])), TestForm.CONTENT_TYPE));
            assertEquals(413, guide.status());
            guide.answer(new ByteArrayInputStream(new byte[0]), TestForm.CONTENT_TYPE);
            assertEquals(400, guide.status());
        }
    }

    private static RequestContext request(InputStream body) {
        return new RequestContext() {
            @Override
            public String getCharacterEncoding() {
                return "UTF-8";
            }

            @Override
            public String getContentType() {
                return TestForm.CONTENT_TYPE;
            }

            @Override
            @Deprecated
            public int getContentLength() {
                return -1;
            }

            @Override
            public InputStream getInputStream() {
                return body;
            }
        };
    }

    @Test
    void endpointsOfThePageOnMigration_giveTheSameResult() throws Exception {
        TestForm form = new TestForm()
                .field("title", "Sea \u20AC")
                .file("photo", "a.jpg", new byte[5])
                .file("photo", "b.jpg", new byte[200_000])
                .file("other", "", new byte[0]);
        Path spool = Files.createDirectory(directory.resolve("spool"));
        Path store = Files.createDirectory(directory.resolve("store"));
        try (Forms forms = Forms.open(spool, options -> options)) {
            assertEquals(
                    Collections.nCopies(3, new Receipt("Sea \u20AC", 2, 200_005)),
                    List.of(
                            new Guide(forms, store).receive(body(form), TestForm.CONTENT_TYPE, store),
                            new FileUploadEndpoint(spool).receive(request(body(form)), store),
                            new NettyEndpoint(spool).receive(body(form), TestForm.CONTENT_TYPE, store)));
        }
        assertEquals(
                3 * 200_005,
                SpooledFiles.below(store).stream()
                        .mapToLong(file -> file.toFile().length())
                        .sum());
        assertEquals(List.of(), SpooledFiles.below(spool));
    }

    private static TestForm fileOfType(String type, String filename, String content) {
        return new TestForm()
                .part(
                        "Content-Disposition: form-data; name=\"f\"; filename=\"" + filename + "\"\r\nContent-Type: "
                                + type,
                        content.getBytes(UTF_8));
    }

    @Test
    void onlyPdf_rejectsOtherFiles_andAcceptsEveryFormOfThePdfType() throws IOException {
        try (Forms forms = Forms.open(directory, options -> options.decider(Guide.onlyPdf()))) {
            for (String type : List.of("application/pdf", "Application/PDF", "application/pdf; version=1.7")) {
                try (MultipartForm form = forms.read(body(fileOfType(type, "a.pdf", "%PDF")), TestForm.CONTENT_TYPE)) {
                    assertEquals("%PDF", form.file("f").text());
                }
            }
            for (TestForm other : List.of(
                    fileOfType("text/plain", "a.txt", "a"),
                    fileOfType("text/plain", "a.txt", ""),
                    fileOfType("text/plain", "", "a"),
                    new TestForm().part("Content-Disposition: form-data; name=f; filename=a", new byte[1]))) {
                MultipartException rejected =
                        assertThrows(MultipartException.class, () -> forms.read(body(other), TestForm.CONTENT_TYPE));
                assertEquals(415, rejected.httpStatus());
            }
            TestForm optional = fileOfType("application/octet-stream", "", "").field("title", "Sea");
            try (MultipartForm form = forms.read(body(optional), TestForm.CONTENT_TYPE)) {
                assertNull(form.file("f"));
                assertEquals("Sea", form.text("title"));
                assertEquals(List.of(), form.skipped());
            }
        }
    }

    @Test
    void preset_acceptsBareLineFeeds() throws IOException {
        String lines = new String(new TestForm().field("a", "1").body(), UTF_8).replace("\r\n", "\n");
        try (Forms forms = Forms.open(directory, options -> options.preset(Guide.oneOldClient()));
                MultipartForm old =
                        forms.read(new ByteArrayInputStream(lines.getBytes(UTF_8)), TestForm.CONTENT_TYPE)) {
            assertEquals("1", old.text("a"));
        }
    }
}
