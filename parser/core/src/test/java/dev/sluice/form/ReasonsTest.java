package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader;
import dev.sluice.Setting;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** One error for nearly every reason, with its status, setting and message. */
class ReasonsTest {
    private static final String NAMED = "--x\r\nContent-Disposition: form-data; name=\"title\"";
    private static final String FIELD = NAMED + "\r\n\r\nvv";
    private static final String END = "\r\n--x--";

    /** Reason; status; setting; the body, the Content-Type, or its parameters; expected message. */
    private static final String ROWS = """
            MISSING_BOUNDARY | 400 |  | ; | the Content-Type has no boundary parameter
            INVALID_BOUNDARY | 400 |  | ;boundary="" | the boundary is empty
            DUPLICATE_BOUNDARY | 400 |  | ;boundary=x;boundary=y | the Content-Type has more than one boundary parameter
            UNSUPPORTED_MEDIA_TYPE | 415 |  | multipart/mixed;boundary=x | the Content-Type is not multipart/form-data
            UNKNOWN_CHARSET | 415 | preset=strict | NAMED\\r\\nContent-Type: text/plain; charset=klingon\\r\\n\\r\\n | the charset of a field is unknown (part 0 "title", offset 65)
            TRUNCATED | 400 |  | FIELD | the body ends before its close-delimiter (part 0 "title", offset 55)
            PREAMBLE | 400 | preset=strict | p\\r\\nFIELD | there is text before the first delimiter (offset 0)
            EPILOGUE | 400 | preset=strict | FIELDEND\\r\\ne | there is text after the close-delimiter (offset 64)
            PREAMBLE_TOO_LARGE | 413 | maxPreambleBytes=1 | pp\\r\\nFIELD | the size of the preamble exceeds the limit of 1 bytes: the boundary of the Content-Type does not occur in the body, which begins with 'p' (maxPreambleBytes; offset 1)
            EPILOGUE_TOO_LARGE | 413 | maxEpilogueBytes=1 | FIELDEND\\r\\nee | the size of the epilogue exceeds the limit of 1 bytes (maxEpilogueBytes; offset 65)
            MALFORMED_DELIMITER | 400 |  | FIELD\\r\\n--x! | unexpected byte after a delimiter: '!' (part 0 "title", offset 60)
            MALFORMED_HEADER | 400 |  | --x\\r\\nA(: b | a header name contains the byte: '(' (part 0, offset 6)
            DUPLICATE_HEADER | 400 |  | --x\\r\\nContent-Type: a\\r\\nContent-Type: b\\r\\n\\r\\n | a header field occurs twice (part 0, offset 22)
            HEADER_SECTION_TOO_LARGE | 413 | maxHeaderBytesPerPart=9 | FIELD | the size of the part header section exceeds the limit of 9 bytes (maxHeaderBytesPerPart; part 0, offset 14)
            TOO_MANY_HEADERS | 413 | maxHeadersPerPart=0 | FIELD | the count of header fields of a part exceeds the limit of 0 (maxHeadersPerPart; part 0, offset 5)
            HEADERS_TOO_LARGE | 413 | maxHeaderBytes=9 | FIELD | the size of all part header sections exceeds the limit of 9 bytes (maxHeaderBytes; part 0, offset 14)
            MISSING_CONTENT_DISPOSITION | 400 |  | --x\\r\\nA: b\\r\\n\\r\\n | the part has no Content-Disposition (part 0, offset 11)
            MALFORMED_CONTENT_DISPOSITION | 400 |  | NAMED x\\r\\n\\r\\n | Content-Disposition: a semicolon or the end is expected (part 0 "title", offset 50)
            MISSING_NAME | 400 |  | --x\\r\\nContent-Disposition: form-data\\r\\n\\r\\n | the Content-Disposition has no name (part 0, offset 26)
            DUPLICATE_PARAMETER | 400 |  | NAMED; name=b\\r\\n\\r\\n | Content-Disposition: a parameter occurs twice (part 0 "title", offset 51)
            UNSUPPORTED_TRANSFER_ENCODING | 400 | preset=strict | --x\\r\\nContent-Transfer-Encoding: base64\\r\\n\\r\\n | the Content-Transfer-Encoding is not 7bit, 8bit or binary (part 0, offset 32)
            MALFORMED_TRANSFER_ENCODING | 400 | decodeTransferEncodings=true | NAMED\\r\\nContent-Transfer-Encoding: base64\\r\\n\\r\\nxEND | the body of a part is not valid base64: its end is missing (part 0 "title", offset 88)
            TOO_MANY_PARTS | 413 | maxParts=0 | FIELD | the count of parts exceeds the limit of 0 (maxParts; part 0, offset 4)
            TOO_MANY_FILES | 413 | maxFiles=0 | NAMED; filename=f\\r\\n\\r\\n | the count of parts with a file name exceeds the limit of 0 (maxFiles; part 0 "title", offset 26)
            PART_TOO_LARGE | 413 | maxPartBytes=1 | FIELDEND | the size of the part body exceeds the limit of 1 bytes (maxPartBytes; part 0 "title", offset 54)
            BODY_TOO_LARGE | 413 | maxBodyBytes=54 | FIELDEND | the size of the multipart body exceeds the limit of 54 bytes (maxBodyBytes; part 0 "title", offset 54)
            FIELD_TOO_LARGE | 413 | maxFieldBytes=1 | FIELDEND | the size of a part as text or in memory exceeds the limit of 1 bytes (maxFieldBytes; part 0 "title", offset 54)
            IN_MEMORY_TOO_LARGE | 413 | maxInMemoryBytes=9 | FIELDEND | the size of the form in memory exceeds the limit of 9 bytes (maxInMemoryBytes; part 0 "title", offset 53)
            MEMORY_FULL | 503 | maxHeaderBytesPerPart=1MiB | FIELD | the memory for uploads is used up: all uploads together may hold 100000 bytes (memoryBudgetBytes)
            SPOOL_FULL | 507 | spillThreshold=0 | NAMED; filename=f\\r\\n\\r\\nvvEND | the size of all uploads on disk exceeds the limit of 1 bytes (maxSpoolBytes; part 0 "title")
            TOO_MANY_FILES_ON_DISK | 413 | maxFilesOnDisk=0 | NAMED; filename=f\\r\\n\\r\\nLARGEEND | the count of files of the form on disk exceeds the limit of 0 (maxFilesOnDisk; part 0 "title", offset 65)
            PART_REFUSED | 422 | refused | FIELDEND | no #1 here (part 0 "title", offset 53)
            """;

    @TempDir
    private Path directory;

    private record Row(Reason reason, int status, String setting, String type, String body, String message) {
        static Row of(String line) {
            String[] cells = line.split(" \\| ", -1);
            String input = cells[3].replace("FIELD", FIELD)
                    .replace("NAMED", NAMED)
                    .replace("END", END)
                    .replace("LARGE", "v".repeat(70_000))
                    .replace("\\r", "\r")
                    .replace("\\n", "\n");
            boolean typed = input.startsWith(";") || input.startsWith("multipart/");
            String type = typed ? input : ";boundary=x";
            return new Row(
                    Reason.valueOf(cells[0]),
                    Integer.parseInt(cells[1]),
                    cells[2].strip(),
                    type.startsWith(";") ? "multipart/form-data" + type : type,
                    typed ? "" : input,
                    cells[4]);
        }

        FormOptions.Builder set(FormOptions.Builder builder) {
            if (setting.equals("refused")) {
                return builder.decider(part -> PartDecision.reject(422, "no #1 here"));
            }
            String[] words = setting.split("=", -1);
            return setting.isEmpty() ? builder : builder.set(Setting.of(words[0]), words[1]);
        }
    }

    static List<Row> rows() {
        return ROWS.lines().map(Row::of).toList();
    }

    private static InputStream stream(String body) {
        return new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void reason_hasItsStatusSettingAndMessage(Row row) throws IOException {
        MultipartException failure;
        try (SpoolDirectory spool = SpoolDirectory.builder(directory)
                .maxSpoolBytes(1)
                .keepFreeBytes(0)
                .open()) {
            FormOptions options = row.set(FormOptions.builder(spool, MemoryBudget.of(100_000)))
                    .build();
            failure = assertThrows(MultipartException.class, () -> {
                Boundary boundary =
                        Boundary.anyMultipart(row.type(), options.multipart().preset());
                try (MultipartForm form = PushedForm.read(stream(row.body()), boundary, options)) {
                    form.parts().get(0).text();
                }
            });
        }
        assertEquals(row.message(), failure.getMessage());
        assertEquals(row.reason(), failure.reason());
        assertEquals(row.status(), failure.httpStatus());
        assertSame(row.reason().kind(), failure.kind());
        assertSame(row.reason().setting(), failure.setting());
        assertEquals(failure.setting() != null, failure.limit() >= 0);
        assertEquals(row.message().contains("title") ? "title" : null, failure.fieldName());
        assertEquals(row.message().contains("part 0") ? 0 : -1, failure.partIndex());
        boolean limited = failure.kind() == Kind.LIMIT_EXCEEDED || failure.kind() == Kind.OVERLOADED;
        assertEquals(limited, failure.setting() != null);
        if (failure.kind() == Kind.LIMIT_EXCEEDED) { // Spring MVC recognizes a limit by these words
            assertTrue(row.message().matches("the (size|count) of .* exceeds the limit of .*"));
        }
    }

    @Test
    void reasons_areAllTested() {
        EnumSet<Reason> elsewhere = EnumSet.of(
                Reason.DISK_FULL, // SpoolDirectoryTest: needs a file system
                Reason.TOO_MANY_SPOOL_FILES, // SpoolDirectoryTest: needs files
                Reason.MISSING_FIELD, // FormTest: needs a complete form
                Reason.SINK_STALLED, // FormIntakeTest: needs time
                Reason.UNAVAILABLE, // ClamAvScannerTest, MultipartHandlerTest: needs another service
                Reason.CLIENT_TOO_SLOW); // SluiceFilterTest, AsyncFormTest: needs an adapter
        assertEquals(
                EnumSet.complementOf(elsewhere),
                rows().stream().map(Row::reason).collect(Collectors.toSet()));
        assertEquals(507, Reason.DISK_FULL.httpStatus());
        assertEquals(507, Reason.TOO_MANY_SPOOL_FILES.httpStatus());
        assertEquals(
                "the count of files of all uploads on disk exceeds the limit of 7 (maxSpoolFiles)",
                MultipartException.because(Reason.TOO_MANY_SPOOL_FILES)
                        .limit(7)
                        .build()
                        .getMessage());
        assertEquals(408, Reason.CLIENT_TOO_SLOW.httpStatus());
        assertEquals(
                "the client is slower than the minimum rate of 240 bytes per second (minBytesPerSecond)",
                MultipartException.because(Reason.CLIENT_TOO_SLOW)
                        .limit(240)
                        .build()
                        .getMessage());
        assertEquals(
                "the upload would leave less than 5 bytes free on disk (keepFreeBytes)",
                MultipartException.because(Reason.DISK_FULL).limit(5).build().getMessage());
    }

    @Test
    void inputOfTheClient_isEscapedAndShortenedInMessages() {
        String name = "a\u202e\n\"\\\ud83d\ude00\u00e4" + "x".repeat(100);
        MultipartException failure = MultipartException.because(Reason.MALFORMED_HEADER)
                .part(3, name)
                .seen("\u0000" + "y".repeat(20))
                .at(91230)
                .build();
        String shown = "a\\u{202E}\\u{A}\\\"\\\\\ud83d\ude00\u00e4";
        assertEquals(
                "a header section is malformed: \\u{0}yyyyyyyyyyy... (part 3 \"" + shown
                        + "x".repeat(64 - shown.length()) + "...\", offset 91230)",
                failure.getMessage());
        assertEquals("\\u{0}yyyyyyyyyyy...", failure.seen());
        assertEquals(name, failure.fieldName());
        assertEquals(-1, failure.limit());
        assertNull(
                MultipartException.because(Reason.PREAMBLE).seen(null).build().seen());
    }

    @Test
    void reader_namesTheField() throws IOException {
        try (MultipartReader reader = MultipartReader.create(
                stream(FIELD + END),
                Boundary.of("x"),
                dev.sluice.MultipartOptions.builder().maxFieldBytes(1).build())) {
            MultipartReader.Part part = reader.nextPart();
            assertNotNull(part);
            MultipartException failure = assertThrows(MultipartException.class, part::text);
            assertEquals("title", failure.fieldName());
            assertEquals(1, failure.limit());
            assertTrue(failure.getMessage().endsWith("(maxFieldBytes; part 0 \"title\", offset 54)"));
        }
    }

    @Test
    void errorInANestedBody_hasItsOffsetInTheWholeBody() {
        String nested = NAMED + "\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n: b\r\n\r\n--y--" + END;
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                .expandNested(true)
                .build();
        MultipartException failure = assertThrows(
                MultipartException.class, () -> PushedForm.read(stream(nested), Boundary.of("x"), options));
        assertEquals(
                "in a nested body: a header field has no name: ':' (part 0 \"title\", offset 101)",
                failure.getMessage());
    }

    @Test
    void toBuilder_keepsSuppressedExceptions() {
        MultipartException original =
                MultipartException.because(Reason.TRUNCATED).build();
        IOException suppressed = new IOException("not closed");
        original.addSuppressed(suppressed);
        MultipartException located = original.toBuilder().part(1, "title").build();
        assertEquals(List.of(suppressed), List.of(located.getSuppressed()));
    }

    @Test
    void limitOfASink_namesThePart() {
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                .decider(part -> PartDecision.to(PartSink.limited(PartSink.discard(), 1)))
                .build();
        MultipartException failure = assertThrows(
                MultipartException.class, () -> PushedForm.read(stream(FIELD + END), Boundary.of("x"), options));
        assertEquals("the size of the part body exceeds the limit of 1 bytes (part 0 \"title\")", failure.getMessage());
        assertNull(failure.setting());
        assertEquals(1, failure.limit());
        assertTrue(List.of(failure.getStackTrace()).toString().contains("LimitSink.write"));
        IOException own = new IOException("of the application");
        FormOptions broken = options.toBuilder()
                .decider(part -> {
                    throw own;
                })
                .build();
        assertSame(
                own,
                assertThrows(IOException.class, () -> PushedForm.read(stream(FIELD + END), Boundary.of("x"), broken)));
    }
}
