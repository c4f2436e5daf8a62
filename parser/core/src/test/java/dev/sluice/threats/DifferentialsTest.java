package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.sluice.Boundary;
import dev.sluice.Deviation;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import dev.sluice.legacy.TransferDecoder;
import dev.sluice.testkit.HostileBodies;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.Soup;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * Section M of threats.md, differences between readers: ambiguous input is rejected, or has the same result for every split.
 */
class DifferentialsTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long BLANKS = ProofSize.of("sluice.blanks", 2 << 20, 20 << 20);

    private static void assertRejected(String contentType, Reason reason) {
        for (Preset preset : Run.PRESETS) {
            MultipartException e = assertThrows(
                    MultipartException.class, () -> Boundary.anyMultipart(contentType, preset), contentType);
            assertEquals(reason, e.reason(), contentType);
        }
    }

    private static String part(String headers, String body) {
        return "--x\r\n" + headers + "\r\n" + body + Run.TAIL;
    }

    private static String disposition(String value) {
        return part("Content-Disposition: " + value + "\r\n", "v");
    }

    @Test
    void cve_2026_41853_otherMediaType_isRejected() throws IOException {
        for (String type : ("*/*|multipart/*|*/form-data|multipart/|multipart|multipartform-data|xmultipart/form-data"
                        + "|application/x-www-form-urlencoded|text/plain, multipart/form-data|"
                        + "|application/*, multipart/form-data")
                .split("\\|")) {
            assertRejected(type + "; boundary=x", Reason.UNSUPPORTED_MEDIA_TYPE);
        }
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        for (String other : List.of("multipart/mixed", "multipart/form-datax", "multipart/form-data.x")) {
            MultipartException e = assertThrows(
                    MultipartException.class,
                    () -> PushedForm.create(Boundary.anyMultipart(other + "; boundary=x"), options));
            assertEquals(415, e.httpStatus());
        }
    }

    @Test
    void cve_2026_26961_twoBoundaries_evenIfEqual_areRejected() {
        for (String parameters : List.of(
                "; boundary=a; boundary=b",
                "; boundary=a; boundary=a",
                "; boundary=a; BOUNDARY=b",
                "; boundary=\"a\"; boundary=a",
                ";boundary=a;boundary=b",
                "; boundary=a; x=y; boundary=\"b\"",
                "; boundary=a, boundary=b",
                "; boundary=a boundary=b")) {
            assertRejected("multipart/form-data" + parameters, Reason.DUPLICATE_BOUNDARY);
        }
    }

    @Test
    void cve_2026_26962_foldedValue_hasNoLineEnd() throws IOException {
        String folded =
                part("Content-Disposition: form-data;\r\n name=a;\r\n\tfilename=\"f\r\n g\"\r\nX: a\r\n  b\r\n", "v");
        Run.of(folded, Preset.STRICT).assertRejected(Reason.MALFORMED_HEADER);
        Run standard = Run.of(folded, Preset.STANDARD).assertAccepted();
        assertEquals(List.of(new Run.Part("a", "f g", "v")), standard.parts);
        assertEquals(Deviation.FOLDED_HEADER, standard.deviations.get(0).kind());
        for (Preset preset : List.of(Preset.STANDARD, Preset.COMPATIBLE)) {
            try (MultipartReader reader = MultipartReader.create(
                    new ByteArrayInputStream(Run.bytes(folded)),
                    Boundary.of("x"),
                    MultipartOptions.builder().preset(preset).build())) {
                MultipartReader.Part part = reader.nextPart();
                for (var header : part.head().headers()) {
                    assertTrue(
                            header.value().indexOf('\r') < 0 && header.value().indexOf('\n') < 0, header.toString());
                }
                assertEquals("a b", part.head().header("X"));
                assertEquals("f g", part.head().filename());
            }
        }
    }

    @Test
    void cve_2026_21876_charset_isReadFromEachPart() throws IOException {
        String body =
                "--x\r\nContent-Disposition: form-data; name=a\r\nContent-Type: text/plain; charset=utf-16be\r\n\r\n"
                        + "\u0000v\u0000w\r\n"
                        + "--x\r\nContent-Disposition: form-data; name=b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n"
                        + "\u00e4\r\n"
                        + "--x\r\nContent-Disposition: form-data; name=c\r\n\r\n\u00c3\u00a4\r\n"
                        + "--x\r\nContent-Disposition: form-data; name=d\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
                        + "\u00c3\u00a4\r\n--x--";
        try (MultipartForm form = PushedForm.read(
                new ByteArrayInputStream(Run.bytes(body)),
                Boundary.of("x"),
                FormOptions.inMemory(MemoryBudget.unlimited()).build())) {
            assertEquals("vw", form.text("a"));
            for (String name : List.of("b", "c", "d")) {
                assertEquals("\u00e4", form.text(name), name);
            }
        }
    }

    @Test
    void cve_2022_39955_duplicateHeaderOfPart_isRejected() {
        for (String header :
                List.of("Content-Type: text/plain\r\n", "Content-Transfer-Encoding: 7bit\r\n", Run.FIELD)) {
            for (Preset preset : Run.PRESETS) {
                String own = header.equals(Run.FIELD) ? "" : Run.FIELD;
                Run.of(part(own + header + header.toUpperCase(Locale.ROOT), "v"), preset)
                        .assertRejected(Reason.DUPLICATE_HEADER);
            }
        }
        for (String encoding : List.of("base64", "quoted-printable", "x-uuencode", "base64, base64", "")) {
            String body = part(Run.FIELD + "Content-Transfer-Encoding: " + encoding + "\r\n", "PHNjcmlwdD4=");
            Run.of(body, Preset.STRICT).assertRejected(Reason.UNSUPPORTED_TRANSFER_ENCODING);
            Run standard = Run.of(body, Preset.STANDARD).assertAccepted();
            assertEquals("PHNjcmlwdD4=", standard.parts.get(0).body(), "the body was decoded");
            assertEquals(Deviation.TRANSFER_ENCODING, standard.deviations.get(0).kind());
        }
    }

    @Test
    void cve_2022_48279_nul_isRejectedInHeadersAndKeptInData() {
        for (Preset preset : Run.PRESETS) {
            Run.of(disposition("form-data; name=\"a\u0000\""), preset).assertRejected(Reason.MALFORMED_HEADER);
            Run.of(part("X\u0000: y\r\n" + Run.FIELD, "v"), preset).assertRejected(Reason.MALFORMED_HEADER);
            Run.of(part("\u0000" + Run.FIELD, "v"), preset).assertRejected(Reason.MALFORMED_HEADER);
            Run data =
                    Run.of(part(Run.FIELD, "\u0000\r\n\u0000--x\u0000"), preset).assertAccepted();
            assertEquals("\u0000\r\n\u0000--x\u0000", data.parts.get(0).body());
        }
    }

    /** Asserts that every byte of the data is delivered, for one chunk, any two chunks, and many chunks. */
    private static void assertNothingIsLost(String data, Preset preset) {
        byte[] body = Run.bytes(Run.HEAD + data + Run.TAIL);
        MultipartOptions options = MultipartOptions.builder().preset(preset).build();
        for (int chunkSize = 1; chunkSize <= body.length; chunkSize++) {
            assertData(Run.of(new ByteArrayInputStream(body), options, chunkSize), data, "in chunks of " + chunkSize);
            assertData(Run.of(new TwoReads(body, chunkSize), options, body.length), data, "cut at " + chunkSize);
        }
    }

    private static void assertData(Run run, String data, String how) {
        run.assertAccepted();
        assertEquals(List.of(new Run.Part("a", null, data)), run.parts, how);
    }

    /** A stream whose first read returns only the first bytes. */
    private static final class TwoReads extends ByteArrayInputStream {
        private final int first;

        TwoReads(byte[] bytes, int first) {
            super(bytes);
            this.first = first;
        }

        @Override
        public synchronized int read(byte[] target, int from, int length) {
            return super.read(target, from, pos < first ? Math.min(length, first - pos) : length);
        }
    }

    @Test
    void cve_2024_8925_dataStartingLikeDelimiter_isKept() {
        for (String data : List.of(
                "\r\n--",
                "\r\n-",
                "\r\n",
                "\r",
                "\n--y",
                "a--x",
                "a--x--",
                "a\r\n--y\r\n--",
                "\r\n\r\n--\r\n-",
                "\r\n--\r\n--\r\n--X",
                "")) {
            for (Preset preset : List.of(Preset.STANDARD, Preset.STRICT)) {
                assertNothingIsLost(data, preset);
            }
        }
        assertNothingIsLost("\n--x", Preset.STANDARD);
        assertNothingIsLost("\r--x", Preset.STANDARD);
        for (String data : List.of("\r\n--xy", "\r\n--x y", "a\r\n--x-b", "\r\n--x\rz", "\r\n--x \t-\r\n--x\r\r\n")) {
            assertNothingIsLost(data, Preset.COMPATIBLE);
        }
    }

    @Test
    void busboy_5c838c6_textAfterClosingQuoteOrLineEndInParameter_isRejected() {
        for (Preset preset : List.of(Preset.STANDARD, Preset.STRICT)) {
            for (String junk :
                    List.of("\"payload.jpg\".html", "\"a\"b", "\"a\" b", "\"a\"\"b\"", "\"a\"=b", "a\"b\"")) {
                Run.of(disposition("form-data; name=a; filename=" + junk), preset)
                        .assertRejected(Reason.MALFORMED_CONTENT_DISPOSITION);
                Run.of(disposition("form-data; name=" + junk), preset)
                        .assertRejected(Reason.MALFORMED_CONTENT_DISPOSITION);
            }
            for (String end : List.of("\r", "\n")) {
                Run.of(disposition("form-data; name=\"a" + end + "b\""), preset)
                        .assertRejected(Reason.MALFORMED_HEADER);
            }
        }
    }

    @Tag("sized")
    @Test
    @Timeout(value = 180, threadMode = ThreadMode.SEPARATE_THREAD)
    void cve_2026_33033_whitespaceInBase64_isReadOnce() throws IOException {
        String head = "--x\r\n" + Run.FIELD + "Content-Transfer-Encoding: base64\r\n\r\n";
        List<String> tokens = List.of(" ", "\r\n", "QQ", "Q \r\n", "\t");
        for (String token : tokens) {
            for (int chunkSize : new int[] {1, 76, 8192, 64 << 10}) {
                assertReadOnce(Run.bytes(token.repeat((64 << 10) / token.length())), chunkSize);
            }
        }
        for (String token : tokens) {
            for (Preset preset : List.of(Preset.STANDARD, Preset.COMPATIBLE)) {
                FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                        .preset(preset)
                        .maxInMemoryBytes(64 << 20)
                        .maxFieldBytes(64 << 20)
                        .build();
                long times = BLANKS / token.length();
                Repeated body = new Repeated(head, token, times, Run.TAIL);
                long before = THREADS.getCurrentThreadAllocatedBytes();
                try (MultipartForm form = PushedForm.read(body, Boundary.of("x"), options)) {
                    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
                    assertTrue(allocated <= 4 * body.size(), "allocated: " + allocated);
                    long size = form.parts().get(0).size();
                    long letters = token.chars().filter(c -> c == 'Q').count() * times;
                    assertEquals(preset == Preset.STANDARD ? token.length() * times : letters * 6 / 8, size);
                }
            }
        }
    }

    /** Decodes base64, and checks that each byte is read once. */
    private static void assertReadOnce(byte[] encoded, int chunkSize) throws IOException {
        TransferDecoder decoder = TransferDecoder.of("base64", IOException::new);
        long reads = 0;
        for (int at = 0; at < encoded.length; at += chunkSize) {
            CountedBytes chunk =
                    new CountedBytes(Arrays.copyOfRange(encoded, at, Math.min(at + chunkSize, encoded.length)));
            decoder.decode(chunk);
            reads += chunk.reads();
            chunk.release();
        }
        assertEquals(encoded.length, reads, "in chunks of " + chunkSize);
    }

    @Test
    void modSecurity_460_singleQuote_isOrdinaryCharacter() {
        for (Preset preset : Run.PRESETS) {
            Run run = Run.of(disposition("form-data; name='a'; filename='b'"), preset)
                    .assertAccepted();
            assertEquals(List.of(new Run.Part("'a'", "'b'", "v")), run.parts);
            run = Run.of(disposition("form-data; name='a;filename=f'"), preset).assertAccepted();
            assertEquals(List.of(new Run.Part("'a", "f'", "v")), run.parts);
            run = Run.of(disposition("form-data; name=\"'\"; filename=\"';name=b\""), preset)
                    .assertAccepted();
            assertEquals(List.of(new Run.Part("'", "';name=b", "v")), run.parts);
        }
    }

    @Test
    void netty_17383_dataSplitAtAnyByte_isUnchanged() throws MultipartException {
        for (HostileBodies.Body hostile : HostileBodies.all(120)) {
            String data =
                    new String(hostile.bytes(), hostile.dataOffset(), hostile.dataSize(), StandardCharsets.ISO_8859_1);
            Boundary boundary = Boundary.anyMultipart(hostile.contentType());
            for (int cut = 0; cut <= hostile.bytes().length; cut++) {
                Run whole = Run.of(
                                boundary,
                                new TwoReads(hostile.bytes(), cut),
                                MultipartOptions.defaults(),
                                hostile.bytes().length)
                        .assertAccepted();
                assertEquals(data, whole.parts.get(0).body(), hostile + " cut at " + cut);
                Run many = Run.of(
                                boundary,
                                new ByteArrayInputStream(hostile.bytes()),
                                MultipartOptions.defaults(),
                                1 + cut)
                        .assertAccepted();
                assertEquals(data, many.parts.get(0).body(), hostile + " in chunks of " + (1 + cut));
            }
        }
        for (String data : List.of("a\r", "\r", "\r\r", "\r\r\n", "a\r\r\n-", "\r\n\r", "ab\rcd\r\r")) {
            for (Preset preset : Run.PRESETS) {
                assertNothingIsLost(data, preset);
            }
        }
    }

    /** Writes parts again like a relay, using only the output of the decoder. */
    private static byte[] relayed(Boundary boundary, List<Run.Part> parts) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (Run.Part part : parts) {
            String filename = part.filename() == null ? "" : "; filename=\"" + part.filename() + "\"";
            body.write(("--" + boundary.value() + "\r\nContent-Disposition: form-data; name=\"" + part.name() + "\""
                            + filename + "\r\n\r\n")
                    .getBytes(StandardCharsets.UTF_8));
            body.write(Run.bytes(part.body() + "\r\n"));
        }
        body.write(Run.bytes("--" + boundary.value() + "--\r\n"));
        return body.toByteArray();
    }

    @Test
    void cve_2026_59389_formAcceptedByStrict_relayed_isUnchanged() throws IOException {
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        int forms = 0;
        for (int seed = 0; seed < 20_000; seed++) {
            Soup.Body soup = Soup.body(seed);
            Boundary boundary;
            try {
                boundary = Boundary.formData(soup.contentType(), Preset.STRICT);
            } catch (MultipartException e) {
                continue;
            }
            Run first = Run.of(boundary, new ByteArrayInputStream(soup.bytes()), strict, 1000);
            if (first.failure == null && !first.parts.isEmpty()) {
                forms++;
                byte[] again = relayed(boundary, first.parts);
                Run second = Run.of(boundary, new ByteArrayInputStream(again), strict, 1000);
                assertNull(second.failure, soup::toString);
                assertEquals(first.parts, second.parts, soup::toString);
            }
        }
        assertTrue(forms > 1000, "forms: " + forms);
    }
}
