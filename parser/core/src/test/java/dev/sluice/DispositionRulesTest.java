package dev.sluice;

import static dev.sluice.Verdict.A;
import static dev.sluice.Verdict.ALL;
import static dev.sluice.Verdict.COMPATIBLE;
import static dev.sluice.Verdict.STANDARD;
import static dev.sluice.Verdict.STRICT;
import static dev.sluice.Verdict.assertAccepted;
import static dev.sluice.Verdict.assertRefused;
import static dev.sluice.Verdict.assertReported;
import static dev.sluice.Verdict.disposition;
import static dev.sluice.Verdict.headers;
import static dev.sluice.Verdict.unmarked;
import static dev.sluice.Verdict.utf8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.Decoding.Part;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rows 28 to 43 of the table of odd inputs, through the decoder: which Content-Dispositions make a form-data part. */
class DispositionRulesTest {
    private static final List<Preset> NOT_COMPATIBLE = List.of(STANDARD, STRICT);
    private static final Reason MALFORMED = Reason.MALFORMED_CONTENT_DISPOSITION;

    private static void assertNames(Result result, @Nullable String name, @Nullable String filename) {
        assertNull(result.failure(), result::toString);
        Part part = result.parts().get(0);
        assertEquals(name, part.name());
        assertEquals(filename, part.filename());
    }

    /** Accepted silently by all presets. */
    private static void assertOrdinary(String value, @Nullable String name, @Nullable String filename) {
        ALL.forEach(preset -> assertNames(assertAccepted(preset, disposition(value)), name, filename));
    }

    // ---- row 28

    @Test
    void aFormDataPartNeedsAContentDisposition() {
        assertRefused(ALL, "--x\r\n^\r\nv\r\n--x--", Reason.MISSING_CONTENT_DISPOSITION, 0);
        assertRefused(ALL, "--x\r\nContent-Type: text/plain\r\n^\r\nv\r\n--x--", Reason.MISSING_CONTENT_DISPOSITION, 0);
        assertRefused(ALL, "--x\r\n" + A + "\r\nv\r\n--x\r\n^\r\nv\r\n--x--", Reason.MISSING_CONTENT_DISPOSITION, 1);
    }

    @Test
    void anotherTypeThanFormDataIsRefusedAtTheValue() {
        for (String type : List.of("attachment", "inline", "file", "form-data2", "form_data")) {
            assertRefused(NOT_COMPATIBLE, disposition("^" + type + "; name=\"a\""), MALFORMED, 0);
            Result result =
                    assertReported(COMPATIBLE, disposition("^" + type + "; name=\"a\""), Deviation.DISPOSITION_TYPE, 0);
            assertNames(result, "a", null);
        }
    }

    @Test
    void aDispositionWithoutATypeIsRefused() {
        assertRefused(ALL, disposition("^; name=\"a\""), MALFORMED, 0);
        assertEquals(
                List.of(),
                Verdict.decode(COMPATIBLE, disposition("; name=\"a\"")).deviations());
        assertRefused(ALL, disposition("^\"form-data\"; name=\"a\""), MALFORMED, 0);
        assertRefused(ALL, "--x\r\nContent-Disposition:^\r\n\r\nv\r\n--x--", MALFORMED, 0);
    }

    @Test
    void parametersThatBreakTheGrammarAreRefusedWhereTheyDo() {
        for (String value : List.of(
                "form-data ^name=\"a\"",
                "form-data; name=\"a\" ^filename=\"f\"",
                "form-data; name ^= \"a\"",
                "form-data; name=^ \"a\"",
                "form-data; name=a ^b",
                "form-data; name=\"a\"^b",
                "form-data; name=\"a\"^\"b\"",
                "form-data; name=\"a\"; filename=\"a\"^b.jsp",
                "form-data; name=\"a\"; filename=\"payload.jpg\"^.html",
                "form-data; name=\"a\"; filename=a^\"b",
                "form-data; name=\"a\"; filename=f^,g",
                "form-data; name=^;",
                "form-data; ^=a",
                "form-data; ^\"name\"=a",
                "form-data^, name=\"a\"")) {
            assertRefused(NOT_COMPATIBLE, disposition(value), MALFORMED, 0);
        }
    }

    @Test
    void aQuotedValueThatDoesNotEndIsRefusedInEveryPreset() {
        String start = "--x\r\nContent-Disposition: form-data; ";
        assertRefused(ALL, start + "name=\"a^\r\n\r\nv\r\n--x--", MALFORMED, 0);
        assertRefused(ALL, start + "name=\"^\r\n\r\nv\r\n--x--", MALFORMED, 0);
        assertRefused(ALL, start + "name=\"a\\\"^\r\n\r\nv\r\n--x--", MALFORMED, 0);
        assertRefused(ALL, start + "name=a; filename=\"a.jsp^\r\n\r\nv\r\n--x--", MALFORMED, 0);
        assertRefused(ALL, start + "name=^\r\n\r\nv\r\n--x--", MALFORMED, 0);
    }

    @Test
    void compatibleTakesJunkThatHasOneReading() {
        assertNames(
                assertReported(COMPATIBLE, disposition("form-data; name=a ^b"), Deviation.DISPOSITION_SYNTAX, 0),
                "a b",
                null);
        assertNames(
                assertReported(
                        COMPATIBLE,
                        disposition("form-data; name=\"a\"; filename=\"a\"^b.jsp\""),
                        Deviation.DISPOSITION_SYNTAX,
                        0),
                "a",
                "a\"b.jsp");
        assertReported(COMPATIBLE, disposition("form-data; name ^= a"), Deviation.DISPOSITION_SYNTAX, 0);
        assertReported(COMPATIBLE, disposition("form-data; name=^ a"), Deviation.DISPOSITION_SYNTAX, 0);
        assertRefused(COMPATIBLE, disposition("form-data; name=\"a\"^b=\"c\""), MALFORMED, 0);
        Result blanks = Verdict.decode(COMPATIBLE, disposition("form-data; name = \"a\""));
        assertNames(blanks, "a", null);
        assertEquals(1, blanks.deviations().size());
        assertEquals(Deviation.DISPOSITION_SYNTAX, blanks.deviations().get(0).kind());
    }

    @Test
    void theStateOfOnePartDoesNotReachTheNext() {
        String first = "--x\r\n"
                + "Content-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n"
                + "Content-Type: text/html\r\n\r\n"
                + "v\r\n";
        Result result = assertAccepted(STANDARD, first + headers("Content-Disposition: form-data; name=\"b\"\r\n"));
        assertEquals("b", result.parts().get(1).name());
        assertNull(result.parts().get(1).filename());
        assertNull(result.parts().get(1).contentType());
        assertRefused(ALL, first + "--x\r\nContent-Disposition: ^form-data\r\n\r\nv\r\n--x--", Reason.MISSING_NAME, 1);
    }

    // ---- rows 29 and 30

    @Test
    void aNameIsNeededAlsoWhereNameStarIsGiven() {
        assertRefused(ALL, disposition("^form-data"), Reason.MISSING_NAME, 0);
        assertRefused(ALL, disposition("^form-data;"), Reason.MISSING_NAME, 0);
        assertRefused(ALL, disposition("^form-data; filename=\"f\""), Reason.MISSING_NAME, 0);
        assertRefused(ALL, disposition("^form-data; name*=UTF-8''a"), Reason.MISSING_NAME, 0);
        assertRefused(ALL, disposition("^form-data; name*0=a"), Reason.MISSING_NAME, 0);
        assertRefused(ALL, disposition("^form-data; name"), Reason.MISSING_NAME, 0);
        assertRefused(ALL, disposition("^form-data; xname=\"a\"; names=\"a\""), Reason.MISSING_NAME, 0);
        assertRefused(ALL, disposition("^form-data; x=\"; name=a\""), Reason.MISSING_NAME, 0);
    }

    @Test
    void anEmptyNameIsAName() {
        assertOrdinary("form-data; name=\"\"", "", null);
        assertOrdinary("form-data; name=\"\"; filename=\"\"", "", "");
    }

    // ---- row 31

    @Test
    void aParameterGivenTwiceIsRefusedEvenIfEqual() {
        assertRefused(ALL, disposition("form-data; name=\"a\"; ^name=\"a\""), Reason.DUPLICATE_PARAMETER, 0);
        assertRefused(ALL, disposition("form-data; name=\"a\"; ^NAME=b"), Reason.DUPLICATE_PARAMETER, 0);
        assertRefused(
                ALL, disposition("form-data; filename=\"a\"; name=b; ^filename=\"c\""), Reason.DUPLICATE_PARAMETER, 0);
        assertRefused(ALL, disposition("form-data; name=b; filename=a;^FileName=a"), Reason.DUPLICATE_PARAMETER, 0);
        assertRefused(
                List.of(COMPATIBLE), disposition("form-data; name=a; ^name = \"b\""), Reason.DUPLICATE_PARAMETER, 0);
    }

    @Test
    void withoutBlanksAroundTheEqualsSignAParameterBeforeABlankHasNoValueAndOccursOnce() {
        assertRefused(NOT_COMPATIBLE, disposition("form-data; name=a; name ^= \"b\""), MALFORMED, 0);
        assertOrdinary("form-data; name=a; name ; name", "a", null);
    }

    // ---- rows 32 and 33

    @Test
    void valuesMayBeTokensInAnyOrderWithOtherParametersAround() {
        assertOrdinary("form-data; name=a", "a", null);
        assertOrdinary("form-data;name=a;filename=f.txt", "a", "f.txt");
        assertOrdinary("form-data; filename=\"f\"; name=\"a\"", "a", "f");
        assertOrdinary("FORM-DATA; NAME=\"a\"; FileName=\"f\"", "a", "f");
        assertOrdinary("form-data; size=12; name=\"a\"; creation-date=\"x\"", "a", null);
        assertOrdinary("form-data; foo; name=\"a\"", "a", null);
        assertOrdinary("form-data; name=\"a\";", "a", null);
        assertOrdinary("form-data; name=\"a\" ; ", "a", null);
        assertOrdinary("form-data;;; name=\"a\"", "a", null);
        assertOrdinary("form-data ;\tname=\"a\"", "a", null);
        assertOrdinary("form-data; x=\"; name=\\\"b\\\"\"; name=\"a\"", "a", null);
    }

    @Test
    void singleQuotesAreOrdinaryCharacters() {
        assertOrdinary("form-data; name='a'", "'a'", null);
        assertOrdinary("form-data; name=\"'a'\"; filename='f'", "'a'", "'f'");
        assertOrdinary("form-data; name=';filename=\"dummy';name2=b;\"", "'", "dummy';name2=b;");
        assertRefused(NOT_COMPATIBLE, disposition("form-data; name='a ^b'"), MALFORMED, 0);
    }

    // ---- row 34

    @Test
    void onlyABackslashBeforeAQuoteOrBackslashIsAnEscape() {
        assertOrdinary("form-data; name=\"a\\\"b\"", "a\"b", null);
        assertOrdinary("form-data; name=\"a\\\\b\"", "a\\b", null);
        assertOrdinary("form-data; name=a; filename=\"C:\\dir\\f.txt\"", "a", "C:\\dir\\f.txt");
        assertOrdinary("form-data; name=a; filename=\"C:\\\\dir\\\\f.txt\"", "a", "C:\\dir\\f.txt");
        assertOrdinary("form-data; name=a; filename=\"\\\\\\\\host\\\\share\"", "a", "\\\\host\\share");
        assertOrdinary("form-data; name=\"\\a\\n\"", "\\a\\n", null);
        assertOrdinary("form-data; name=\"a\\\\\"; filename=\"b\"", "a\\", "b");
        assertOrdinary("form-data; name=\"a\\\"; filename=\\\"b\"", "a\"; filename=\"b", null);
        assertOrdinary("form-data; name=\"\\\"\"", "\"", null);
    }

    // ---- row 35

    @Test
    void percentEscapesAreLiteralUnlessAskedFor() {
        String value = "form-data; name=\"a%22b%0D%0Ac%20%2e\"; filename=\"%22%0d%0a%41%\"";
        assertOrdinary(value, "a%22b%0D%0Ac%20%2e", "%22%0d%0a%41%");
        for (Preset preset : ALL) {
            MultipartOptions options = MultipartOptions.builder()
                    .preset(preset)
                    .decodePercentEscapes(true)
                    .build();
            assertNames(Verdict.decode(options, disposition(value)), "a\"b\r\nc%20%2e", "\"\r\n%41%");
        }
    }

    // ---- rows 36 and 37

    @Test
    void namesAndFilenamesAreUtf8() {
        String text = "\u00fc\u4e2d\ud83d\ude00";
        assertOrdinary(utf8("form-data; name=\"" + text + "\"; filename=\"" + text + ".txt\""), text, text + ".txt");
        assertOrdinary(utf8("form-data; name=" + text), text, null);
    }

    @Test
    void bytesThatAreNotUtf8AreReportedOrRefusedAtTheFirstOfThem() {
        for (String bytes :
                List.of("^\u00ff", "\u00c3\u00bc^\u00fc", "^\u00e4\u00b8", "^\u00c0\u00af", "^\u00ed\u00a0\u0080")) {
            String marked = disposition("form-data; name=\"" + bytes + "\"");
            for (Preset preset : List.of(STANDARD, COMPATIBLE)) {
                Result result = assertReported(preset, marked, Deviation.UNDECODABLE_HEADER, 0);
                String name = result.parts().get(0).name();
                assertNotNull(name);
                assertFalse(name.indexOf('\uFFFD') < 0, name);
            }
            assertRefused(STRICT, marked, Reason.MALFORMED_HEADER, 0);
        }
        assertRefused(STRICT, headers(A + "X: ^\u00fc\r\n"), Reason.MALFORMED_HEADER, 0);
    }

    @Test
    void theRawBytesOfAnUndecodableNameAreAvailable() throws MultipartException {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
            decoder.feed(Unpooled.wrappedBuffer(
                    Decoding.bytes(disposition("form-data; name=\"\u00fc\\\"\"; filename=\"\u0080\""))));
            decoder.next();
            ContentDisposition disposition = decoder.headers().contentDisposition();
            assertNotNull(disposition);
            assertArrayEquals(new byte[] {(byte) 0xFC, '"'}, disposition.rawName());
            assertArrayEquals(new byte[] {(byte) 0x80}, disposition.rawFilename());
            assertEquals("\uFFFD\"", disposition.name());
        }
    }

    @Test
    void anotherHeaderCharsetCanBeSet() {
        MultipartOptions latin1 = MultipartOptions.builder()
                .preset(STRICT)
                .headerCharset(StandardCharsets.ISO_8859_1)
                .build();
        assertNames(Verdict.decode(latin1, disposition("form-data; name=\"\u00fc\"")), "\u00fc", null);
        MultipartOptions windows = MultipartOptions.builder()
                .preset(STRICT)
                .headerCharset(Charset.forName("windows-1252"))
                .build();
        assertNames(Verdict.decode(windows, disposition("form-data; name=\"\u0080\"")), "\u20ac", null);
        MultipartOptions ascii = MultipartOptions.builder()
                .preset(STRICT)
                .headerCharset(StandardCharsets.US_ASCII)
                .build();
        assertRefused(ascii, disposition("form-data; name=\"^\u00fc\""), Reason.MALFORMED_HEADER, 0);
    }

    // ---- row 38

    @Test
    void aFilenameStarAloneIsDecodedAndReported() {
        String marked = disposition("form-data; name=\"a\"; ^filename*=UTF-8''%e2%82%AC%20rates.txt");
        assertNames(assertReported(STANDARD, marked, Deviation.EXTENDED_FILENAME, 0), "a", "\u20ac rates.txt");
        assertRefused(STRICT, marked, MALFORMED, 0);
        assertNames(assertAccepted(COMPATIBLE, unmarked(marked)), "a", "\u20ac rates.txt");
        assertNames(
                assertReported(
                        STANDARD,
                        disposition("form-data; ^FILENAME*=iso-8859-1'en'%A3.txt; name=\"a\""),
                        Deviation.EXTENDED_FILENAME,
                        0),
                "a",
                "\u00a3.txt");
    }

    @Test
    void quotesAroundAFilenameStarChangeNothing() {
        String marked = disposition("form-data; name=\"a\"; ^filename*=\"UTF-8''%C3%BC.txt\"");
        assertNames(assertReported(STANDARD, marked, Deviation.EXTENDED_FILENAME, 0), "a", "\u00fc.txt");
        assertRefused(STRICT, marked, MALFORMED, 0);
    }

    // ---- row 39

    @Test
    void thePlainFilenameWinsOverADifferentFilenameStar() {
        for (String marked : List.of(
                disposition("form-data; name=a; filename=\"safe.txt\"; ^filename*=UTF-8''evil.jsp"),
                disposition("form-data; name=a; filename*=UTF-8''evil.jsp; ^filename=\"safe.txt\""))) {
            assertNames(assertReported(STANDARD, marked, Deviation.CONFLICTING_FILENAMES, 0), "a", "safe.txt");
            assertNames(assertReported(COMPATIBLE, marked, Deviation.CONFLICTING_FILENAMES, 0), "a", "safe.txt");
            assertRefused(STRICT, marked, MALFORMED, 0);
        }
    }

    @Test
    void equalFilenamesAreReportedAndNotRefused() {
        String marked = disposition(utf8("form-data; name=a; filename=\"\u00fc.txt\"; ^filename*=UTF-8''%C3%BC.txt"));
        assertNames(assertReported(STANDARD, marked, Deviation.TWO_FILENAMES, 0), "a", "\u00fc.txt");
        assertNames(assertReported(COMPATIBLE, marked, Deviation.TWO_FILENAMES, 0), "a", "\u00fc.txt");
        assertNames(assertAccepted(STRICT, unmarked(marked)), "a", "\u00fc.txt");
    }

    @Test
    void filenameStarWinsOverAnEncodedWord() {
        String marked =
                disposition("form-data; name=a; filename=\"=?utf-8?B?w7wudHh0?=\"; ^filename*=UTF-8''%C3%BC.txt");
        assertNames(assertReported(STANDARD, marked, Deviation.CONFLICTING_FILENAMES, 0), "a", "\u00fc.txt");
        assertNames(assertReported(COMPATIBLE, marked, Deviation.CONFLICTING_FILENAMES, 0), "a", "\u00fc.txt");
        assertRefused(STRICT, marked, MALFORMED, 0);
    }

    @Test
    void whatOnlyLooksLikeAnEncodedWordIsAFilename() {
        for (String filename : List.of("=?=", "=?a?", "=xa?=", "=?aa=", "x?a?=", "=?a?x")) {
            String marked =
                    disposition("form-data; name=a; filename=\"" + filename + "\"; ^filename*=UTF-8''%C3%BC.txt");
            assertNames(assertReported(STANDARD, marked, Deviation.CONFLICTING_FILENAMES, 0), "a", filename);
        }
    }

    // ---- row 40

    @Test
    void aFilenameStarThatCannotBeReadIsIgnored() {
        for (String value : List.of(
                "UTF-8''%e2%8",
                "UTF-8''%zz",
                "UTF-8''a%",
                "UTF-8''%ff",
                "UTF-8'%41",
                "plain.txt",
                "x-unknown''a",
                "UTF-16''%00a",
                "''a",
                "UTF-8''a(b)",
                "US-ASCII''a")) {
            String marked = disposition("form-data; name=a; ^filename*=" + value);
            assertNames(assertReported(STANDARD, marked, Deviation.UNUSABLE_EXTENDED_PARAMETER, 0), "a", null);
            assertRefused(STRICT, marked, MALFORMED, 0);
            assertNames(assertReported(COMPATIBLE, marked, Deviation.UNUSABLE_EXTENDED_PARAMETER, 0), "a", null);
        }
        String marked = disposition("form-data; name=a; filename=f; ^filename*=UTF-8''%");
        assertNames(assertReported(STANDARD, marked, Deviation.UNUSABLE_EXTENDED_PARAMETER, 0), "a", "f");
        assertRefused(STRICT, marked, MALFORMED, 0);
    }

    @Test
    void continuationsAreIgnoredByStandardRefusedByStrictAndJoinedByCompatible() {
        String marked = disposition("form-data; name=a; ^filename*0=\"re\"; filename*1=\"al.txt\"");
        assertNames(assertReported(STANDARD, marked, Deviation.PARAMETER_CONTINUATION, 0), "a", null);
        assertRefused(STRICT, marked, MALFORMED, 0);
        assertNames(assertAccepted(COMPATIBLE, unmarked(marked)), "a", "real.txt");
        assertNames(
                assertAccepted(
                        COMPATIBLE,
                        disposition(
                                "form-data; name=a; filename*1*=%20b; filename*0*=UTF-8''%C3%BC; filename*2=c.txt")),
                "a",
                "\u00fc bc.txt");
    }

    @Test
    void continuationsAreJoinedByNumberAndNotByText() {
        StringBuilder parameters = new StringBuilder();
        for (int i = 11; i >= 0; i--) {
            parameters.append("; filename*").append(i).append("=").append((char) ('a' + i));
        }
        assertNames(assertAccepted(COMPATIBLE, disposition("form-data; name=a" + parameters)), "a", "abcdefghijkl");
    }

    @Test
    void aPlainFilenameWinsOverContinuations() {
        String marked = disposition("form-data; name=a; filename=plain; ^filename*0=other");
        assertNames(assertReported(STANDARD, marked, Deviation.PARAMETER_CONTINUATION, 0), "a", "plain");
        assertRefused(STRICT, marked, MALFORMED, 0);
        assertNames(assertAccepted(COMPATIBLE, unmarked(marked)), "a", "plain");
    }

    @Test
    void continuationsThatDoNotFitTogetherAreNoFilename() {
        for (String value : List.of(
                "filename*1=b",
                "filename*0=a; filename*2=c",
                "filename*0=a; filename*0=b",
                "filename*0=a; filename*01=b",
                "filename*0=a; filename*1000=b",
                "filename*0*=UTF-8''%C3; filename*1*=%28",
                "filename*x=a",
                "filename**=a",
                "filename*0*=x-unknown''a",
                "filename*0*=UTF-8''%",
                "filename*9999999999=a")) {
            assertNames(assertAccepted(COMPATIBLE, disposition("form-data; name=a; " + value)), "a", null);
        }
    }

    @Test
    void nameStarIsIgnoredWhereThereIsAName() {
        String marked = disposition("form-data; name=\"a\"; ^name*=utf-8''role");
        assertNames(assertReported(STANDARD, marked, Deviation.UNUSABLE_EXTENDED_PARAMETER, 0), "a", null);
        assertRefused(STRICT, marked, MALFORMED, 0);
        assertNames(assertReported(COMPATIBLE, marked, Deviation.UNUSABLE_EXTENDED_PARAMETER, 0), "a", null);
    }

    @Test
    void nameContinuationsAreIgnoredWhereThereIsAName() {
        String marked = disposition("form-data; name=\"a\"; ^name*0=ro; name*1=le");
        assertNames(assertReported(STANDARD, marked, Deviation.UNUSABLE_EXTENDED_PARAMETER, 0), "a", null);
        assertRefused(STRICT, marked, MALFORMED, 0);
        assertNames(assertReported(COMPATIBLE, marked, Deviation.UNUSABLE_EXTENDED_PARAMETER, 0), "a", null);
    }

    @Test
    void extendedParametersAreJudgedFromLeftToRight() {
        String first = disposition("form-data; name=\"a\"; ^filename*=UTF-8''b; name*=utf-8''role");
        String second = disposition("form-data; name=\"a\"; filename*=UTF-8''b; ^name*=utf-8''role");
        assertRefused(STRICT, first, MALFORMED, 0);
        assertRefused(STRICT, disposition("form-data; name=a; ^name*=UTF-8''a; filename*0=f"), MALFORMED, 0);
        assertRefused(STRICT, disposition("form-data; name=a; ^filename*0=f; name*=UTF-8''a"), MALFORMED, 0);
        assertRefused(
                STRICT, disposition("form-data; name=a; ^name*0=a; filename*=UTF-8''f; filename*0=f"), MALFORMED, 0);
        Result result = Verdict.decode(STANDARD, unmarked(first));
        assertNames(result, "a", "b");
        assertEquals(
                List.of(
                        new ReportedDeviation(Deviation.EXTENDED_FILENAME, 0, first.indexOf('^')),
                        new ReportedDeviation(Deviation.UNUSABLE_EXTENDED_PARAMETER, 0, second.indexOf('^'))),
                result.deviations());
    }

    // ---- rows 41 and 42

    @Test
    void encodedWordsAndEntitiesAreLiteral() {
        assertOrdinary("form-data; name=a; filename=\"=?utf-8?B?YS5qc3A=?=\"", "a", "=?utf-8?B?YS5qc3A=?=");
        assertOrdinary("form-data; name=\"&#8364;&amp;\"; filename=\"&#8364;.txt\"", "&#8364;&amp;", "&#8364;.txt");
    }

    @Test
    void anEmptyFilenameIsPresentAndEmpty() {
        assertOrdinary("form-data; name=\"a\"; filename=\"\"", "a", "");
    }

    // ---- row 43

    @Test
    void aFilenameIsGivenAsItWasSent() {
        for (String filename : List.of("../../etc/passwd", "/abs", "a:stream", "CON", "x.txt. ", "..")) {
            assertOrdinary("form-data; name=\"a\"; filename=\"" + filename + "\"", "a", filename);
        }
        assertOrdinary(utf8("form-data; name=\"a\"; filename=\"\u202egpj.exe\""), "a", "\u202egpj.exe");
    }

    // ---- names are opaque, and matter nowhere else

    @Test
    void namesAreComparedAndKeptByteByByte() {
        for (String name : List.of("a[b].c", "__proto__", "Upload", "upload", "$a", "a.b")) {
            assertOrdinary("form-data; name=\"" + name + "\"", name, null);
        }
    }

    @Test
    void theRulesOfFormDataDoNotHoldForOtherMultipartTypes() throws MultipartException {
        Boundary mixed = Boundary.from("multipart/mixed; boundary=x");
        for (String line :
                List.of("", "Content-Disposition: attachment; filename=\"f\"\r\n", "Content-Disposition: ;;;=\r\n")) {
            Result result = Decoding.decode(mixed, Decoding.bytes(headers(line)), MultipartOptions.defaults(), 1);
            assertNull(result.failure(), line);
            assertEquals("v", result.parts().get(0).body());
            assertNull(result.parts().get(0).name());
        }
    }

    // ---- row 46

    @Test
    void aNestedMultipartIsOneOpaquePart() {
        String marked = headers(A + "Content-Type: ^multipart/mixed; boundary=y\r\n");
        assertEquals(
                "v", assertAccepted(STANDARD, unmarked(marked)).parts().get(0).body());
        assertRefused(STRICT, marked, Reason.UNSUPPORTED_MEDIA_TYPE, 0);
        assertRefused(STRICT, headers(A + "Content-Type: ^Multipart/form-data\r\n"), Reason.UNSUPPORTED_MEDIA_TYPE, 0);
        assertAccepted(COMPATIBLE, unmarked(marked));
    }

    // ---- the order of checks

    @Test
    void theChecksOfACompleteSectionComeInTheDocumentedOrder() {
        // duplicate, undecodable, transfer encoding, disposition, nested
        assertRefused(
                STRICT,
                headers("X: \u00ff\r\nContent-Type: a/b\r\n^Content-Type: a/b\r\n"),
                Reason.DUPLICATE_HEADER,
                0);
        assertRefused(
                STRICT, headers("Content-Transfer-Encoding: base64\r\nX: ^\u00ff\r\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(
                STRICT, headers("Content-Transfer-Encoding: ^base64\r\n"), Reason.UNSUPPORTED_TRANSFER_ENCODING, 0);
        assertRefused(
                STRICT,
                headers("Content-Type: multipart/mixed\r\nContent-Disposition: ^form-data; filename*=UTF-8''a\r\n"),
                Reason.MISSING_NAME,
                0);
        assertRefused(
                STRICT,
                headers("Content-Type: multipart/mixed\r\n"
                        + "Content-Disposition: form-data; name=a; ^filename*=UTF-8''a\r\n"),
                MALFORMED,
                0);
    }

    @Test
    void messagesNeverQuoteTheHeaders() {
        for (String line : List.of(
                "Content-Disposition: ${jndi}; name=a",
                "Content-Disposition: form-data; name=\"${jndi}",
                "Content-Disposition: form-data; ${jndi}",
                "Content-Disposition: form-data; name=a; name=${jndi}",
                "${jndi}: x",
                "X: ${jndi}\u0000",
                "Content-Disposition: form-data; name=a ${jndi}")) {
            try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
                decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(headers(line + "\r\n"))));
                MultipartException e = assertThrows(MultipartException.class, decoder::next, line);
                assertFalse(e.getMessage().contains("jndi"), e.getMessage());
            }
        }
    }
}
