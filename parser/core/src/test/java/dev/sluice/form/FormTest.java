package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.Deviation;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import dev.sluice.ReportedDeviation;
import dev.sluice.form.storage.Spool;
import dev.sluice.testkit.OpenFiles;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts, texts and files of a form. */
class FormTest extends SpooledTest {

    private FormOptions.Builder options() {
        return FormOptions.builder(spool, budget);
    }

    private static FormOptions.Builder compatible(FormOptions.Builder options) {
        return options.preset(Preset.COMPATIBLE);
    }

    private static String utf8(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private static List<Deviation> kinds(MultipartForm form) {
        return form.deviations().stream().map(ReportedDeviation::kind).toList();
    }

    @Test
    void parts_keepTheirOrderAndRepeatedNames() throws IOException {
        Upload upload = new Upload()
                .field("a", "1")
                .file("f", "x.txt", "file")
                .field("a", "2")
                .field("", "none")
                .file("f", "", "");
        try (MultipartForm form = upload.read(options().build())) {
            assertEquals(
                    List.of("a", "f", "a", "", "f"),
                    form.parts().stream().map(FormPart::name).toList());
            assertEquals(List.of("1", "2"), form.texts("a"));
            assertEquals("1", form.text("a"));
            assertNull(form.text("f"));
            assertNull(form.part("F"));
            assertEquals(3, form.fields().size());
            assertEquals(
                    List.of("x.txt"),
                    form.files().stream().map(FormPart::filename).toList());
            assertEquals(upload.toBytes().length, form.bodyBytes());
        }
    }

    @Test
    void emptyInput_isNotAFile() throws IOException {
        Upload upload = new Upload()
                .file("none", "", "")
                .file("second", "", "")
                .file("second", "b.txt", "b")
                .file("empty", "empty.txt", "")
                .file("unnamed", "", "content")
                .field("text", "");
        try (MultipartForm form = upload.read(options().build())) {
            assertNull(form.file("none"));
            assertEquals(List.of(), form.files("none"));
            assertEquals("b.txt", form.file("second").filename());
            assertEquals(0, form.file("empty").size());
            assertEquals("content", form.file("unnamed").text());
            assertNull(form.file("text"));
            assertEquals("", form.part("none").filename());
            assertEquals(
                    List.of("b.txt", "empty.txt", ""),
                    form.files().stream().map(FormPart::filename).toList());
            assertEquals(6, form.parts().size());
        }
    }

    @Test
    void isEmpty_isTrueOnlyForEmptyInputs() throws IOException {
        Upload upload = new Upload()
                .file("noFile", "", "")
                .field("noText", "")
                .file("emptyFile", "empty.txt", "")
                .file("unnamed", "", "content")
                .field("text", "a");
        try (MultipartForm form = upload.read(options().build())) {
            assertEquals(
                    List.of("noFile", "noText"),
                    form.parts().stream()
                            .filter(FormPart::isEmpty)
                            .map(FormPart::name)
                            .toList());
        }
    }

    @Test
    void files_ofAnInputForSeveralFiles_areReturnedInOrder() throws IOException {
        Upload upload = new Upload()
                .file("photo", "1.jpg", "one")
                .file("other", "x.jpg", "x")
                .field("photo", "a field with the same name")
                .file("photo", "2.jpg", "two");
        try (MultipartForm form = upload.read(options().build())) {
            assertEquals(
                    List.of("1.jpg", "2.jpg"),
                    form.files("photo").stream().map(FormPart::filename).toList());
            assertEquals(List.of(), form.files("PHOTO"));
        }
    }

    private static void assertMissing(String message, Executable call) {
        MultipartException missing = assertThrows(MultipartException.class, call);
        assertEquals(message, missing.getMessage());
        assertEquals(Reason.MISSING_FIELD, missing.reason());
        assertEquals(400, missing.httpStatus());
        assertEquals("photo", missing.fieldName());
    }

    @Test
    void requireFile_withoutAFile_rejectsTheFormAndNamesTheInput() throws IOException {
        try (MultipartForm form =
                new Upload().file("photo", "a.jpg", "a").read(options().build())) {
            assertEquals("a.jpg", form.requireFile("photo").filename());
        }
        for (Upload upload : List.of(
                new Upload().field("a", "1"),
                new Upload().file("photo", "", ""),
                new Upload().field("photo", "text"))) {
            try (MultipartForm form = upload.read(options().build())) {
                assertMissing("a required file is missing (field \"photo\")", () -> form.requireFile("photo"));
            }
        }
    }

    @Test
    void requireText_withoutAField_rejectsTheFormAndNamesTheField() throws IOException {
        try (MultipartForm form = new Upload()
                .field("title", "Sea")
                .field("none", "")
                .file("photo", "a.jpg", "a")
                .read(options().build())) {
            assertEquals("Sea", form.requireText("title"));
            assertEquals("", form.requireText("none"));
            assertMissing("a required field is missing (field \"photo\")", () -> form.requireText("photo"));
        }
    }

    @Test
    void texts_areAnUnmodifiableMapInOrder() throws IOException {
        Upload upload = new Upload()
                .field("b", "1")
                .field("a", "2")
                .file("f", "f.txt", "file")
                .field("b", "3")
                .field("empty", "");
        try (MultipartForm form = upload.read(options().build())) {
            Map<String, List<String>> texts = form.texts();
            assertEquals("{b=[1, 3], a=[2], empty=[]}", texts.toString());
            assertEquals(List.of(""), texts.get("empty"));
            assertThrows(UnsupportedOperationException.class, texts::clear);
            assertThrows(
                    UnsupportedOperationException.class, () -> texts.get("a").add("x"));
        }
        Upload longer = new Upload().field("a", "1").field("b", "12");
        try (MultipartForm form = longer.read(options().maxFieldBytes(1).build())) {
            assertEquals(List.of("1"), form.texts("a"), "the text of another field was read");
            assertEquals(
                    Reason.FIELD_TOO_LARGE,
                    assertThrows(MultipartException.class, form::texts).reason());
        }
    }

    @Test
    void contentOfAFile_isReadAsBytesAndTransferred() throws IOException {
        byte[] large = "l\u0080".repeat(50_000).getBytes(StandardCharsets.ISO_8859_1);
        Upload upload = new Upload()
                .file("small", "s", "small")
                .file("large", "l", new String(large, StandardCharsets.ISO_8859_1))
                .file("none", "n", "");
        Map<String, byte[]> contents =
                Map.of("small", "small".getBytes(StandardCharsets.US_ASCII), "large", large, "none", new byte[0]);
        MultipartForm form = upload.read(options().build());
        for (FormPart part : form.parts()) {
            byte[] expected = contents.get(part.name());
            assertArrayEquals(expected, part.bytes());
            boolean[] closed = new boolean[1];
            ByteArrayOutputStream out = new ByteArrayOutputStream() {
                @Override
                public void close() {
                    closed[0] = true;
                }
            };
            assertEquals(expected.length, part.transferTo(out));
            assertArrayEquals(expected, out.toByteArray());
            assertFalse(closed[0]);
        }
        assertFalse(form.part("large").isInMemory());
        form.close();
        for (FormPart part : form.parts()) {
            assertThrows(IllegalStateException.class, part::bytes);
            assertThrows(IllegalStateException.class, () -> part.transferTo(OutputStream.nullOutputStream()));
        }
    }

    @Test
    void partAboveItsThreshold_movesToAFile() throws IOException {
        String at = "a".repeat(1000);
        String most = "a".repeat(64 << 10);
        Upload upload = new Upload()
                .field("f", most)
                .field("g", most + "b")
                .file("h", "h", at)
                .file("i", "i", at + "b");
        try (MultipartForm form = upload.read(options().spillThreshold(1000).build())) {
            assertEquals(
                    List.of(true, false, true, false),
                    form.parts().stream().map(FormPart::isInMemory).toList());
            assertEquals(2, spool.files());
            assertEquals((64 << 10) + 2 * Spool.BLOCK, spool.bytes());
            assertEquals(most + "b", form.text("g"));
            assertEquals(1001, form.parts().get(3).size());
        }
    }

    @Test
    void streams_ofOnePart_areIndependentUntilTheFormIsClosed() throws IOException {
        MultipartForm form = new Upload()
                .file("m", "m", "memory")
                .file("s", "s", "s".repeat(70_000))
                .read(options().build());
        assertEquals("s".repeat(70_000), form.parts().get(1).text(), "the file lacks the bytes that were in memory");
        for (FormPart part : form.parts()) {
            try (InputStream first = part.inputStream();
                    InputStream second = part.inputStream()) {
                assertEquals(first.read(), second.read());
                assertArrayEquals(first.readAllBytes(), second.readAllBytes());
                assertEquals(-1, first.read());
            }
        }
        InputStream memory = form.parts().get(0).inputStream();
        InputStream file = form.parts().get(1).inputStream();
        assertEquals('s', file.read());
        assertEquals(1, OpenFiles.below(spool.path()).size());
        form.close();
        form.close();
        for (InputStream closed : List.of(memory, file)) {
            assertEquals(
                    "the stream is closed",
                    assertThrows(IOException.class, closed::read).getMessage());
            assertThrows(IOException.class, () -> closed.read(new byte[10]));
        }
        assertThrows(IllegalStateException.class, form.parts().get(0)::inputStream);
        assertEquals(List.of(), OpenFiles.below(spool.path()));
    }

    @Test
    void text_usesTheCharsetOfThePartThenOfTheFormThenUtf8() throws IOException {
        Upload upload = new Upload()
                .field("before", "\u00E9")
                .field("_charset_", "windows-1252")
                .field("after", "\u0080")
                .part(
                        "Content-Disposition: form-data; name=own\r\nContent-Type: text/plain; charset=\"utf-8\"\r\n",
                        utf8("\u20AC"));
        try (MultipartForm form = upload.read(options().build())) {
            assertEquals("\u00E9", form.text("before"));
            assertEquals("\u20AC", form.text("after"));
            assertEquals("\u20AC", form.text("own"));
            assertEquals("windows-1252", form.text("_charset_"));
            assertEquals(Charset.forName("windows-1252"), form.part("after").charset());
            assertEquals(List.of(), kinds(form));
        }
        try (MultipartForm form = new Upload()
                .field("f", utf8("\u20AC"))
                .field("g", "\u00FF")
                .read(options().build())) {
            assertEquals("\u20AC", form.text("f"));
            assertEquals("\uFFFD", form.text("g"));
        }
    }

    @Test
    void unknownCharset_isReadAsUtf8AndReported() throws IOException {
        Upload ofPart = new Upload()
                .part(
                        "Content-Disposition: form-data; name=f\r\nContent-Type: text/plain; charset=klingon\r\n",
                        utf8("\u20AC"));
        try (MultipartForm form = ofPart.read(options().build())) {
            assertEquals("\u20AC", form.text("f"));
            assertEquals(List.of(Deviation.UNKNOWN_CHARSET), kinds(form));
        }
        for (String value : List.of("klingon", "not a name!", "", "u".repeat(65))) {
            try (MultipartForm form = new Upload()
                    .field("_charset_", value)
                    .field("f", utf8("\u20AC"))
                    .read(options().build())) {
                assertEquals("\u20AC", form.text("f"));
                assertEquals(List.of(Deviation.UNKNOWN_CHARSET), kinds(form));
            }
        }
    }

    @Test
    void firstCharsetField_isUsedUnlessItIsTooLongForACharsetName() throws IOException {
        for (int length : new int[] {64, 65}) {
            Upload upload = new Upload()
                    .field("_charset_", "u".repeat(length))
                    .field("_charset_", "iso-8859-1")
                    .field("f", "\u00E4");
            try (MultipartForm form = upload.read(options().build())) {
                assertEquals(length == 64 ? "\uFFFD" : "\u00E4", form.text("f"));
            }
        }
    }

    @Test
    void charsetField_withACharsetWithoutAscii_isIgnoredAndReported() throws IOException {
        for (String charset : List.of("UTF-16", "ibm037", "UTF-32", "IBM864")) { // IBM864 has another percent sign
            Upload upload = new Upload().field("_charset_", charset).field("f", "\u00c3\u00bc");
            try (MultipartForm form = upload.read(options().build())) {
                assertEquals("\u00fc", form.text("f"));
                assertEquals(List.of(Deviation.CHARSET_WITHOUT_ASCII), kinds(form));
            }
        }
        for (String charset : List.of("UTF-16", "klingon")) {
            Upload upload = new Upload().field("a", "b").field("_charset_", charset);
            FormOptions strict = options().preset(Preset.STRICT).build();
            MultipartException e = assertThrows(MultipartException.class, () -> upload.read(strict));
            assertEquals(Reason.UNKNOWN_CHARSET, e.reason());
            assertEquals(1, e.partIndex());
        }
    }

    @Test
    void charsetField_appliesWithEveryDecision() throws IOException {
        Upload latin1 = new Upload().field("_charset_", "iso-8859-1").field("f", "\u00E4");
        Upload unknown = new Upload().field("_charset_", "klingon").field("f", "x");
        for (PartDecision decision : List.of(
                PartDecision.store(),
                PartDecision.storeInMemory(),
                PartDecision.skip(),
                PartDecision.to(PartSink.discard()))) {
            FormOptions options = options()
                    .decider(part -> part.name().equals("f") ? PartDecision.store() : decision)
                    .build();
            try (MultipartForm form = latin1.read(options)) {
                assertEquals("\u00E4", form.text("f"));
                assertEquals(List.of(), kinds(form));
            }
            try (MultipartForm form = unknown.read(options)) {
                assertEquals(List.of(Deviation.UNKNOWN_CHARSET), kinds(form));
            }
        }
    }

    @Test
    void charsetField_withAFileName_isAFile() throws IOException {
        try (MultipartForm form = new Upload()
                .file("_charset_", "c", "utf-16")
                .field("f", "x")
                .read(options().build())) {
            assertEquals("x", form.text("f"));
        }
    }

    private static Upload nested() {
        return new Upload()
                .field("before", "1")
                .nested(
                        "files",
                        "--y\r\nContent-Disposition: attachment; filename=\"a.txt\"\r\n\r\nA\r\n"
                                + "--y\r\nContent-Type: text/plain\r\n\r\nB\r\n--y--")
                .field("after", "2");
    }

    @Test
    void nestedBody_isExpandedByTheCompatiblePreset() throws IOException {
        try (MultipartForm form = nested().read(compatible(options()).build())) {
            assertEquals(
                    List.of("before", "files", "files", "after"),
                    form.parts().stream().map(FormPart::name).toList());
            assertEquals("a.txt", form.parts("files").get(0).filename());
            assertEquals("a.txt", form.parts("files").get(0).safeFilename());
            assertEquals("A", form.parts("files").get(0).text());
            assertEquals("B", form.parts("files").get(1).text());
            assertEquals(
                    List.of(0, 1, 1, 2),
                    form.parts().stream().map(part -> part.head().index()).toList());
            String body = new String(nested().toBytes(), StandardCharsets.ISO_8859_1);
            assertEquals(
                    Stream.of("1\r\n", "A\r\n", "B\r\n", "2\r\n")
                            .map(text -> (long) body.indexOf("\r\n\r\n" + text) + 4)
                            .toList(),
                    form.parts().stream().map(part -> part.head().offset()).toList());
        }
    }

    @Test
    void limits_includeNestedBodies_exactly() throws IOException {
        String outer = "Content-Disposition: form-data; name=n\r\nContent-Type: multipart/mixed; boundary=y\r\n";
        String inner = "Content-Disposition: attachment; filename=a\r\n\r\n";
        Upload upload = new Upload();
        for (int count = 0; count < 2; count++) {
            upload.part(outer, "--y\r\n" + inner + "v\r\n--y--");
        }
        long headerBytes = 2L * (outer.length() + 2 + inner.length());
        FormOptions exact = compatible(options())
                .maxParts(4)
                .maxFiles(2)
                .maxHeaderBytes(headerBytes)
                .build();
        try (MultipartForm form = upload.read(exact)) {
            assertEquals(2, form.files().size());
        }
        Map<Reason, Long> oneLess =
                Map.of(Reason.TOO_MANY_PARTS, 3L, Reason.TOO_MANY_FILES, 1L, Reason.HEADERS_TOO_LARGE, headerBytes - 1);
        oneLess.forEach((reason, limit) -> {
            FormOptions options =
                    exact.toBuilder().set(reason.setting(), limit.toString()).build();
            MultipartException rejected = assertThrows(MultipartException.class, () -> upload.read(options));
            assertEquals(reason, rejected.reason());
            assertEquals(limit, rejected.limit());
        });
    }

    @Test
    void truncatedNestedBody_isRejectedWithItsOffsetInTheWholeBody() {
        Upload upload = new Upload().nested("f", "--y\r\n\r\nA");
        MultipartException rejected = assertThrows(
                MultipartException.class,
                () -> upload.read(compatible(options()).build()));
        assertEquals(Reason.TRUNCATED, rejected.reason());
        assertEquals(0, rejected.partIndex());
        assertEquals(
                new String(upload.toBytes(), StandardCharsets.ISO_8859_1).indexOf("A\r\n--x--") + 1, rejected.offset());
    }

    @Test
    void deviationsInNestedBodies_haveOffsetsInTheWholeBodyAndALimit() throws IOException {
        Upload upload = new Upload();
        for (int i = 0; i < 60; i++) {
            upload.nested("f", "--y\r\nX: \u00FF\r\n\r\nA\r\n--y\r\nX: \u00FF\r\n\r\nB\r\n--y--");
        }
        try (MultipartForm form = upload.read(compatible(options()).build())) {
            assertEquals(100, form.deviations().size());
            ReportedDeviation second = form.deviations().get(1);
            assertEquals(Deviation.UNDECODABLE_HEADER, second.kind());
            assertEquals(0, second.partIndex());
            String body = new String(upload.toBytes(), StandardCharsets.ISO_8859_1);
            assertEquals(body.indexOf('\u00FF', body.indexOf('\u00FF') + 1), second.offset());
            assertEquals(49, form.deviations().get(99).partIndex());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--y--", ""})
    void summary_countsAllDeviationsInNestedBodies(String close) throws IOException {
        AtomicReference<@Nullable FormSummary> end = new AtomicReference<>();
        Upload upload = new Upload().nested("f", "--y\r\nX: \u00FF\r\n\r\nA\r\n".repeat(101) + close);
        FormOptions options = compatible(options()).metrics(end::set).build();
        if (close.isEmpty()) {
            assertThrows(MultipartException.class, () -> upload.read(options));
        } else {
            upload.read(options).close();
        }
        FormSummary summary = Objects.requireNonNull(end.get());
        assertEquals(101, summary.deviations());
        assertEquals(100, summary.reported().size());
    }

    @Test
    void unknownCharsetInANestedBody_isReportedForFieldsOnly() throws IOException {
        for (String filename : List.of("", "; filename=a")) {
            Upload upload = new Upload()
                    .nested(
                            "f",
                            "--y\r\nContent-Disposition: attachment" + filename
                                    + "\r\nContent-Type: text/plain; charset=klingon\r\n\r\nA\r\n--y--");
            try (MultipartForm form = upload.read(compatible(options()).build())) {
                assertEquals(filename.isEmpty() ? List.of(Deviation.UNKNOWN_CHARSET) : List.of(), kinds(form));
            }
        }
    }

    @Test
    void nestedBodyInANestedBody_isNotExpanded() throws IOException {
        String inner = "--z\r\n\r\ninner\r\n--z--";
        Upload upload = new Upload()
                .nested("f", "--y\r\nContent-Type: multipart/mixed; boundary=z\r\n\r\n" + inner + "\r\n--y--");
        try (MultipartForm form = upload.read(compatible(options()).build())) {
            assertEquals(List.of(inner), form.texts("f"));
        }
    }

    @Test
    void finishedFormAndClosedForm_rejectCalls() throws IOException {
        PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options().build());
        byte[] body = new Upload().field("a", "1").toBytes();
        Upload.feed(assembler, body, 0, body.length, 10);
        MultipartForm form = assembler.finish();
        assertThrows(IllegalStateException.class, assembler::finish);
        assertThrows(IllegalStateException.class, () -> Upload.feed(assembler, body, 0, 1, 1));
        assembler.close();
        assertEquals("1", form.text("a"));
        form.close();
        assertThrows(IllegalStateException.class, () -> form.text("a"));
    }
}
