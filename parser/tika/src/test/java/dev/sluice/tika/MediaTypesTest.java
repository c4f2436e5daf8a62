package dev.sluice.tika;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.OneByteStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.tika.mime.MediaTypeRegistry;
import org.apache.tika.mime.MimeTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Detection of media types from content, with and without the client's hints. */
@ExtendWith(LeakCheck.class)
class MediaTypesTest {
    private static final String TYPE = "multipart/form-data; boundary=x";

    /** An image of one transparent pixel. */
    private static final byte[] PNG = Base64.getDecoder()
            .decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==");

    private static final byte[] JPEG = bytes("\u00FF\u00D8\u00FF\u00E0\0\u0010JFIF\0\1\1\0\0\1\0\1\0\0\u00FF\u00D9");
    private static final byte[] PDF =
            bytes("%PDF-1.7\n%\u00E2\u00E3\u00CF\u00D3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n");
    private static final byte[] HTML =
            bytes("<!DOCTYPE html>\n<html><head><title>x</title></head><body><script>1</script></body></html>");
    private static final byte[] TEXT = bytes("only some words, one after another\n");

    private final MemoryBudget memory = MemoryBudget.of(1 << 20);
    private final List<String> types = new ArrayList<>();

    @AfterEach
    void memory_isReleased() {
        assertEquals(0, memory.used());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] zip() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry("a.txt"));
            zip.write(TEXT);
        }
        return out.toByteArray();
    }

    private static byte[] sample(String name) throws IOException {
        return switch (name) {
            case "png" -> PNG;
            case "jpeg" -> JPEG;
            case "pdf" -> PDF;
            case "zip" -> zip();
            case "html" -> HTML;
            case "text" -> TEXT;
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static byte[] body(String filename, String contentType, byte[] content) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(bytes("--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"" + filename
                + "\"\r\nContent-Type: " + contentType + "\r\n\r\n"));
        body.writeBytes(content);
        body.writeBytes(bytes("\r\n--x--\r\n"));
        return body.toByteArray();
    }

    private PartDecision keep(String type) {
        types.add(type);
        return PartDecision.storeInMemory();
    }

    private FormOptions options(PartDecider decider) {
        return FormOptions.inMemory(memory).decider(decider).build();
    }

    private MultipartForm read(byte[] body, PartDecider decider) throws IOException {
        return Forms.of(options(decider)).read(new ByteArrayInputStream(body), TYPE);
    }

    private String typeOf(byte[] body, PartDecider decider) throws IOException {
        types.clear();
        read(body, decider).close();
        assertEquals(1, types.size());
        return types.get(0);
    }

    @ParameterizedTest
    @CsvSource({
        "png, image/png",
        "jpeg, image/jpeg",
        "pdf, application/pdf",
        "zip, application/zip",
        "html, text/html",
        "text, text/plain"
    })
    void sniff_ignoresNameDeclaredTypeAndChunks(String name, String type) throws IOException {
        byte[] content = sample(name);
        PartDecider decider = MediaTypes.sniff(64, (part, found) -> keep(found));
        for (String disguise : List.of("x.png image/png", "x.html text/html", "x.exe application/octet-stream")) {
            byte[] body = body(disguise.split(" ")[0], disguise.split(" ")[1], content);
            assertEquals(type, typeOf(body, decider), disguise);
            types.clear();
            try (MultipartForm form = Forms.of(options(decider)).read(new OneByteStream(body), TYPE)) {
                assertEquals(List.of(type), types);
                assertArrayEquals(
                        content, form.parts().get(0).inputStream().readAllBytes(), "the content is incomplete");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 64, 8192})
    void sniff_emptyPart_isOctetStream(int bytes) throws IOException {
        PartDecider decider = MediaTypes.sniff(bytes, (part, type) -> keep(type));
        assertEquals("application/octet-stream", typeOf(body("x.png", "image/png", new byte[0]), decider));
    }

    @Test
    void sniff_shortPart_isExaminedCompletely() throws IOException {
        byte[] eight = Arrays.copyOf(PNG, 8);
        PartDecider decider = MediaTypes.sniff(8192, (part, type) -> keep(type));
        assertEquals("image/png", typeOf(body("x", "text/plain", eight), decider));
        assertEquals("image/png", typeOf(body("x", "text/plain", PNG), decider));
    }

    @Test
    void sniff_examinesOnlyRequestedBytes() throws IOException {
        PartDecider decider = MediaTypes.sniff(3, (part, type) -> keep(type));
        assertEquals("text/plain", typeOf(body("x", "application/pdf", bytes("%PD")), decider));
        assertEquals("text/plain", typeOf(body("x", "application/pdf", PDF), decider));
    }

    @Test
    void sniff_htmlDeclaredAsImage_canBeRejected() throws IOException {
        // @start region="pictures"
        PartDecider picturesOnly = MediaTypes.sniff(
                512,
                (part, type) -> type.startsWith("image/")
                        ? PartDecision.storeInMemory()
                        : PartDecision.skip(415, "pictures only"));
        // @end
        byte[] body = body("x.png", "image/png", HTML);
        try (MultipartForm form = read(body, picturesOnly)) {
            assertEquals(List.of(), form.parts());
            assertEquals(415, form.skipped().get(0).httpStatus());
        }
        try (MultipartForm form = read(body("x.png", "image/png", PNG), picturesOnly)) {
            assertEquals(1, form.parts().size());
        }
    }

    @Test
    void hints_refineButDoNotOverrideContent() throws IOException {
        PartDecider hinted = MediaTypes.sniffWithHints(4096, (part, type) -> keep(type));
        PartDecider magic = MediaTypes.sniff(4096, (part, type) -> keep(type));
        byte[] csv = body("x.csv", "text/csv", bytes("a;b\n1;2\n"));
        assertEquals("text/csv", typeOf(csv, hinted));
        assertEquals("text/plain", typeOf(csv, magic));
        String docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        assertEquals(docx, typeOf(body("x.docx", docx, zip()), hinted));
        assertEquals("text/html", typeOf(body("x.png", "image/png", HTML), hinted));
        assertEquals("application/pdf", typeOf(body("x.png", "image/png", PDF), hinted));
        assertEquals(
                "image/png",
                typeOf(body("x.png", "image/png", new byte[0]), hinted),
                "an empty part has no content to detect");
    }

    @Test
    void xml_isDetectedByRootElement_withoutFetchingReferences() throws IOException {
        PartDecider decider = MediaTypes.sniff(4096, (part, type) -> keep(type));
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String outside = "\"http://127.0.0.1:" + server.getLocalPort() + "/x.dtd\"";
            byte[] svg = bytes("<?xml version=\"1.0\"?><!DOCTYPE svg SYSTEM " + outside + " [<!ENTITY e SYSTEM "
                    + outside + ">]><svg xmlns=\"http://www.w3.org/2000/svg\">&e;</svg>");
            assertEquals("image/svg+xml", typeOf(body("x.png", "image/png", svg), decider));
            server.setSoTimeout(1);
            assertThrows(SocketTimeoutException.class, server::accept);
        }
    }

    @Test
    void hints_malformedType_isIgnored() throws IOException {
        PartDecider hinted = MediaTypes.sniffWithHints(64, (part, type) -> keep(type));
        assertEquals("image/png", typeOf(body("\u00FF", ";;/\u00FF", PNG), hinted));
        assertEquals("text/plain", typeOf(body("", "a b c", TEXT), hinted));
    }

    @Test
    void hints_unknownTypes_areNotAddedToTable() throws IOException {
        PartDecider hinted = MediaTypes.sniffWithHints(64, (part, type) -> keep(type));
        MediaTypeRegistry table = MimeTypes.getDefaultMimeTypes().getMediaTypeRegistry();
        int before = table.getTypes().size();
        List<String> found = List.of(
                typeOf(body("x", "text/x-made-up", TEXT), hinted),
                typeOf(body("x", "made/up", new byte[0]), hinted),
                typeOf(body("x", "text/csv; made=up", TEXT), hinted));
        assertEquals(before, table.getTypes().size());
        assertEquals(List.of("text/plain", "application/octet-stream", "text/csv"), found);
    }

    @Test
    void sniff_field_isExamined() throws IOException {
        byte[] body = bytes("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n%PDF-1.7\n\r\n--x--\r\n");
        assertEquals("application/pdf", typeOf(body, MediaTypes.sniff(64, (part, type) -> keep(type))));
        assertEquals("application/pdf", typeOf(body, MediaTypes.sniffWithHints(64, (part, type) -> keep(type))));
    }

    @Test
    void sniff_transferEncoded_examinesDecodedContent() throws IOException {
        byte[] body = bytes("--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n"
                + "Content-Transfer-Encoding: base64\r\n\r\n"
                + Base64.getEncoder().encodeToString(PNG) + "\r\n--x--\r\n");
        FormOptions options = FormOptions.inMemory(memory)
                .preset(Preset.COMPATIBLE)
                .decider(MediaTypes.sniff(64, (part, type) -> keep(type)))
                .build();
        try (MultipartForm form = Forms.of(options).read(new ByteArrayInputStream(body), TYPE)) {
            FormPart part = form.parts().get(0);
            assertArrayEquals(PNG, part.inputStream().readAllBytes());
        }
        assertEquals(List.of("image/png"), types);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 8193})
    void sniff_byteCountOutOfRange_isRejectedAtOnce(int bytes) {
        assertThrows(
                IllegalArgumentException.class, () -> MediaTypes.sniff(bytes, (part, type) -> PartDecision.skip()));
        assertThrows(
                IllegalArgumentException.class,
                () -> MediaTypes.sniffWithHints(bytes, (part, type) -> PartDecision.skip()));
    }
}
