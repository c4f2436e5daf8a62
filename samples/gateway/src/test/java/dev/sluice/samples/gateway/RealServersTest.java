package dev.sluice.samples.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.NameEscaping;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.OutgoingForm;
import dev.sluice.form.PartDecision;
import dev.sluice.testkit.Installed;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Forms that Sluice has written, read by the multipart parsers of common servers, over HTTP/1.1, TLS and HTTP/2. */
@Timeout(300)
class RealServersTest {
    /** A part as an application finds it. An empty file name is a file input that was left empty. */
    private record Part(String name, @Nullable String filename, byte[] content) {
        boolean isEmptyInput() {
            return "".equals(filename);
        }
    }

    /** The value that an application finds for a file input that was left empty. */
    private enum EmptyInput {
        FILE,
        FIELD,
        NOTHING
    }

    private static final List<String> NAMES = List.of(
            "title",
            "größe",
            "日本語",
            "\uD83D\uDE00",
            "say \"hi\"",
            "it's",
            "a.b c",
            "a+b&c=d",
            "100%",
            "a:b,c",
            "<b>",
            "user[name]",
            "tags[]",
            "tags[]");
    private static final List<String> FILENAMES = List.of(
            "a.txt",
            "größe 日本.png",
            "\uD83D\uDE00.bin",
            "say \"hi\".txt",
            "it's a+b & c=d, e.txt",
            "noext",
            "100%.csv");

    /** Larger than a flow-control window of HTTP/2, and small enough for nginx in base64: by default it accepts bodies of up to 1 MiB. */
    private static final byte[] NOISE = TestForm.noise(200_000, 1);

    private static List<Part> parts() {
        List<Part> parts = new ArrayList<>();
        for (String name : NAMES) {
            parts.add(new Part(name, null, (name + "\r\n--" + name).getBytes(UTF_8)));
        }
        parts.add(new Part("empty", null, new byte[0]));
        for (String filename : FILENAMES) {
            parts.add(new Part("file" + parts.size(), filename, ("\r\n--\n" + filename + "\r\n").getBytes(UTF_8)));
        }
        parts.add(new Part("none", "", new byte[0]));
        parts.add(new Part("zero", "zero.bin", new byte[0]));
        parts.add(new Part("photo", "a.jpg", NOISE));
        return parts;
    }

    /** @param known whether the length is known; otherwise the last file is a stream */
    private static MultipartBody body(boolean known) {
        MultipartBody.Builder body = MultipartBody.builder();
        for (Part part : parts()) {
            Content content = known || part.content != NOISE
                    ? Content.of(part.content)
                    : Content.stream(() -> new ByteArrayInputStream(NOISE));
            if (part.filename == null) {
                body.field(part.name, "text/plain; charset=utf-8", content);
            } else if (part.isEmptyInput()) {
                body.emptyFileInput(part.name);
            } else {
                body.file(part.name, part.filename, "application/octet-stream", content);
            }
        }
        return body.build();
    }

    /** {@return the same form in unusual syntax, with files in base64} */
    private static byte[] clientForm() {
        TestForm form = new TestForm();
        for (Part part : parts()) {
            String head = "content-disposition:form-data;name=\"" + escaped(part.name, "%22") + '"';
            if (part.filename == null) {
                form.part(head, part.content);
            } else if (part.isEmptyInput()) {
                form.part(head + ";filename=\"\"\r\ncontent-type:application/octet-stream", part.content);
            } else {
                form.part(
                        head + ";filename=\"" + escaped(part.filename, "%22")
                                + "\"\r\ncontent-type:image/jpeg\r\ncontent-transfer-encoding:base64",
                        Base64.getMimeEncoder().encode(part.content));
            }
        }
        return form.body();
    }

    private static String escaped(String name, String quote) {
        return name.replace("\"", quote);
    }

    /** The parts that an application finds in a form. */
    private enum Application {
        EXACT(EmptyInput.FILE, name -> name, name -> name),
        GO(EmptyInput.FIELD, name -> name, name -> name),
        EXPRESS(EmptyInput.NOTHING, Application::unescaped, Application::unescaped),
        FLASK(EmptyInput.FILE, Application::unescaped, Application::unescaped),
        PHP(EmptyInput.FILE, Application::variable, name -> name),
        /** nginx reads the whole body, and then sends it to PHP with its length. */
        PHP_BEHIND_NGINX(EmptyInput.FILE, Application::variable, name -> name);

        private final EmptyInput emptyInput;
        private final UnaryOperator<String> names;
        private final UnaryOperator<String> filenames;

        Application(EmptyInput emptyInput, UnaryOperator<String> names, UnaryOperator<String> filenames) {
            this.emptyInput = emptyInput;
            this.names = names;
            this.filenames = filenames;
        }

        private static String unescaped(String written) {
            return written.replace("%22", "\"");
        }

        /** {@return the name with {@code _} in place of characters that PHP does not allow in variables} */
        private static String variable(String written) {
            return written.replaceAll("[ .](?=[^\\[]*$)", "_");
        }

        /** {@return the expected lines of a response, if quotes in names were sent as {@code quote}} */
        String parts(String quote) {
            return RealServersTest.parts().stream()
                    .filter(part -> !part.isEmptyInput() || emptyInput != EmptyInput.NOTHING)
                    .map(part -> names.apply(escaped(part.name, quote)) + "\t" + filename(part, quote) + "\t"
                            + TestForm.sha256(part.content))
                    .sorted()
                    .collect(Collectors.joining("\n"));
        }

        private String filename(Part part, String quote) {
            return part.filename == null || part.isEmptyInput() && emptyInput == EmptyInput.FIELD
                    ? "-"
                    : filenames.apply(escaped(part.filename, quote));
        }
    }

    /** @param known the form if its length was sent; null if it was sent in chunks */
    private static void assertReceived(
            Application application, @Nullable MultipartBody known, String quote, String response) {
        List<String> lines = response.lines().toList();
        assertEquals("200", lines.get(0), response);
        if (known != null) {
            assertEquals(String.valueOf(known.contentLength().orElseThrow()), lines.get(1));
        } else if (application != Application.PHP_BEHIND_NGINX) {
            assertEquals("chunked", lines.get(1));
        }
        assertEquals(application.parts(quote), lines.stream().skip(2).sorted().collect(Collectors.joining("\n")));
    }

    private static void exchange(Application application, URI uri, FormClient client) {
        try (client) {
            MultipartBody known = body(true);
            assertReceived(application, known, "%22", client.send(uri, known).get(1, TimeUnit.MINUTES));
            assertReceived(
                    application, null, "%22", client.send(uri, body(false)).get(1, TimeUnit.MINUTES));
            assertReceived(application, null, "_22", forward(client, uri));
        } catch (Exception | AssertionError e) {
            throw new AssertionError(client + " to " + uri, e);
        }
    }

    private static void exchange(Application application, URI uri, boolean http2) throws Exception {
        for (FormClient client : FormClient.all(http2)) {
            exchange(application, uri, client);
        }
    }

    /** Forwards the form of a client. {@return the response} */
    private static String forward(FormClient client, URI uri) throws Exception {
        FormOptions options = FormOptions.inMemory(MemoryBudget.of(1 << 24)).build();
        try (OutgoingForm out = OutgoingForm.create(NameEscaping.REPLACE, UnpooledByteBufAllocator.DEFAULT)) {
            CompletableFuture<String> response = client.forward(uri, out);
            Forms.of(out.options(options.toBuilder(), part -> PartDecision.to(out.part(part)))
                            .build())
                    .read(new ByteArrayInputStream(clientForm()), TestForm.CONTENT_TYPE)
                    .close();
            return response.get(1, TimeUnit.MINUTES);
        }
    }

    /** Sends forms over HTTP/1.1 with and without TLS, and over HTTP/2. */
    private static void exchange(Application application, URI plain, URI secure) throws Exception {
        exchange(application, plain, false);
        exchange(application, plain, FormClient.waiting());
        exchange(application, secure, false);
        exchange(application, secure, true);
    }

    @Test
    void springBoot_readsForms() throws Exception {
        try (BootServer server = new BootServer()) {
            exchange(Application.EXACT, server.plain(), server.secure());
        }
    }

    @Test
    void go_readsForms() throws Exception {
        try (RealServer server = RealServer.go()) {
            Installed.require("Go", server != null);
            exchange(Application.GO, server.plain(), server.secure());
        }
    }

    @Test
    void express_readsForms() throws Exception {
        try (RealServer server = RealServer.express()) {
            Installed.require("Express", server != null);
            exchange(Application.EXPRESS, server.plain(), false);
            exchange(Application.EXPRESS, server.plain(), FormClient.waiting());
        }
    }

    /** The server of Flask sends {@code 100 Continue} twice. The client of the JDK takes the second one for the response. */
    @Test
    void flask_readsForms() throws Exception {
        try (RealServer server = RealServer.flask()) {
            Installed.require("Flask", server != null);
            exchange(Application.FLASK, server.plain(), false);
        }
    }

    /** The server of PHP never sends {@code 100 Continue}. */
    @Test
    void php_readsForms() throws Exception {
        try (RealServer server = RealServer.php()) {
            Installed.require("PHP", server != null);
            exchange(Application.PHP, server.plain(), false);
        }
    }

    @Test
    void phpBehindNginx_readsForms() throws Exception {
        try (RealServer server = RealServer.nginx()) {
            Installed.require("PHP and nginx", server != null);
            exchange(Application.PHP_BEHIND_NGINX, server.plain(), server.secure());
        }
    }
}
