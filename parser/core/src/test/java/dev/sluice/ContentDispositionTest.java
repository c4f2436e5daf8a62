package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartException.Reason;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of single Content-Disposition values. */
class ContentDispositionTest {
    private static final MultipartOptions COMPATIBLE =
            MultipartOptions.builder().preset(Preset.COMPATIBLE).build();

    @Test
    void escapes_areDecodedInNamesButNotInRawHeader() throws MultipartException {
        String value = "form-data; name=\"\u00fc\\\"\"; filename=\"C:\\\\d\\e\"";
        PartHead read = Heads.of(value);
        assertEquals("\u00fc\"", read.name());
        assertEquals("C:\\d\\e", read.filename());
        byte[] raw = read.rawHeader(0);
        assertArrayEquals(value.getBytes(StandardCharsets.UTF_8), raw);
        raw[0] = 0;
        assertNotSame(raw, read.rawHeader(0));
        assertArrayEquals(value.getBytes(StandardCharsets.UTF_8), read.rawHeader(0));
    }

    @Test
    void malformedValue_messageNamesProblem() {
        assertEquals("a parameter name is expected", detail("form-data; =a", MultipartOptions.defaults()));
        assertEquals("a semicolon or the end is expected", detail("form-data a", MultipartOptions.defaults()));
        assertEquals("a disposition type is expected", detail("; name=a", MultipartOptions.defaults()));
        assertEquals(
                "there is text other than a semicolon after a quoted value",
                detail("form-data; name=\"a\"b=\"c\"", COMPATIBLE));
    }

    private static String detail(String value, MultipartOptions options) {
        MultipartException rejected = assertThrows(MultipartException.class, () -> Heads.of(value, options));
        return rejected.getMessage().replaceFirst("^Content-Disposition: ", "").replaceFirst(" \\(.*", "");
    }

    @Test
    void truncatedValue_isNotReadPastEnd() throws MultipartException {
        for (MultipartOptions options : List.of(MultipartOptions.defaults(), COMPATIBLE)) {
            assertEquals("a parameter value is expected", detail("form-data; name=", options));
            assertEquals("the quoted value does not end", detail("form-data; name=\"a\\", options));
            assertEquals("the quoted value does not end", detail("form-data; name=\"", options));
            assertNull(Heads.outsideOfFormData("form-data; name", options).name());
            assertNull(Heads.outsideOfFormData("form-data;", options).name());
        }
    }

    @Test
    void extendedValue_isDecodedCompletelyOrNotAtAll() throws MultipartException {
        assertEquals("a b", extended("UTF-8''a%20b").filename());
        assertEquals("\u0000\t0", extended("UTF-8''%00%09%30").filename());
        assertEquals("", extended("UTF-8''").filename());
        for (String broken : List.of("UTF-8''%4", "UTF-8''%", "UTF-8''%4x", "UTF-8", "UTF-8'", "'", "x''a")) {
            assertNull(extended(broken).extendedFilename(), broken);
            assertEquals(broken, extended(broken).filename());
        }
    }

    private static PartHead extended(String value) throws MultipartException {
        return Heads.of("form-data; name=a; filename*=" + value, COMPATIBLE);
    }

    @Test
    void plainAndExtendedFilename_areBothAvailable() throws MultipartException {
        String both = "form-data; name=a; filename=\"?%22\"; filename*=UTF-8''%C3%BC%2522";
        MultipartOptions decoding = MultipartOptions.builder()
                .decodePercentEscapes(true)
                .preferExtendedFilename(true)
                .build();
        for (PartHead head : List.of(Heads.of(both, decoding), Heads.of(both, COMPATIBLE))) {
            assertEquals("\u00fc%22", head.filename());
            assertEquals("\u00fc%22", head.extendedFilename());
        }
        assertEquals("?\"", Heads.of(both, decoding).plainFilename());
        assertEquals("?%22", Heads.of(both, COMPATIBLE).plainFilename());
        PartHead plain = Heads.of("form-data; name=a; filename=b; filename*=UTF-8''c");
        assertEquals("b", plain.filename());
        assertEquals("b", plain.plainFilename());
        assertEquals("c", plain.extendedFilename());
        PartHead none = Heads.of("form-data; name=a");
        assertNull(none.plainFilename());
        assertNull(none.extendedFilename());
    }

    @Test
    void decodingOptions_areIndependentOfPreset() throws MultipartException {
        String words = "form-data; name=\"=?utf-8?q?a?=\"; filename=\"=?utf-8?q?b?=\"";
        PartHead decoded = Heads.of(
                words, MultipartOptions.builder().decodeEncodedWords(true).build());
        assertEquals("a b", decoded.name() + " " + decoded.filename());
        PartHead literal = Heads.of(
                words,
                MultipartOptions.builder()
                        .preset(Preset.COMPATIBLE)
                        .decodeEncodedWords(false)
                        .build());
        assertEquals("=?utf-8?q?a?= =?utf-8?q?b?=", literal.name() + " " + literal.filename());
        assertEquals(
                "Content-Disposition: encoded words are not used in form-data (part 0 \"=?utf-8?q?a?=\", offset 37)",
                assertThrows(
                                MultipartException.class,
                                () -> Heads.of(
                                        words,
                                        MultipartOptions.builder()
                                                .preset(Preset.STANDARD.refusing(Deviation.ENCODED_WORD))
                                                .build()))
                        .getMessage());
        MultipartOptions apart = MultipartOptions.builder()
                .preset(Preset.COMPATIBLE)
                .joinContinuations(false)
                .build();
        assertNull(Heads.of("form-data; name=a; filename*0=b", apart).filename());
    }

    @Test
    void extendedNameOnly_messageNamesPreset() throws MultipartException {
        String value = "form-data; name*=UTF-8''%C3%BC"; // as aiohttp sends it
        assertEquals("\u00fc", Heads.of(value, COMPATIBLE).name());
        assertEquals(
                "the Content-Disposition has name* but no name: use the preset COMPATIBLE, or another that"
                        + " accepts EXTENDED_NAME (part 0 \"\u00fc\", offset 26)",
                assertThrows(MultipartException.class, () -> Heads.of(value)).getMessage());
    }

    @Test
    void filename_inMoreThan100Continuations_isJoined() throws MultipartException {
        StringBuilder value = new StringBuilder("form-data; name=a");
        for (int i = 0; i <= 100; i++) {
            value.append("; filename*").append(i).append('=').append(i % 10);
        }
        String joined = Heads.of(value.toString(), COMPATIBLE).filename();
        assertEquals("0123456789".repeat(10) + "0", joined);
    }

    @Test
    void offset_countsBytesOfHeaderCharset() {
        MultipartException e = assertThrows(MultipartException.class, () -> Heads.of("form-data; name=\"\u00fc\"b"));
        assertEquals(Heads.FIELD.length() + "form-data; name=\"\"".length() + 2, e.offset());
    }

    @Test
    void options_changeTheAcceptedValues() throws MultipartException {
        assertEquals("a b", Heads.of("attachment; name=a b", COMPATIBLE).name());
        assertEquals(
                "ab.txt",
                Heads.of("form-data; name=a; filename*0=a; filename*1=b.txt", COMPATIBLE)
                        .filename());
        MultipartOptions decoding =
                MultipartOptions.builder().decodePercentEscapes(true).build();
        assertEquals("a\"b", Heads.of("form-data; name=\"a%22b\"", decoding).name());
        assertEquals("ab", Heads.of("form-data; name=\"ab\"", decoding).name());
        assertEquals("a%22b", Heads.of("form-data; name=\"a%22b\"").name());
    }

    @Test
    void percentEscapes_ofQuotesAndLineEnds_areDecodedIfEnabled() throws MultipartException {
        for (Preset preset : Verdict.ALL) {
            MultipartOptions options = MultipartOptions.builder()
                    .preset(preset)
                    .decodePercentEscapes(true)
                    .build();
            PartHead read = Heads.of("form-data; name=\"a%22b%0D%0Ac%20%2e\"; filename=\"%22%0d%0a%41%\"", options);
            assertEquals("a\"b\r\nc%20%2e", read.name());
            assertEquals("\"\r\n%41%", read.filename());
        }
    }

    @Test
    void headerCharset_canBeChanged() {
        for (String name : List.of("\u00fc", "\u20ac")) {
            Charset charset = Charset.forName(name.equals("\u00fc") ? "ISO-8859-1" : "windows-1252");
            String sent = new String(name.getBytes(charset), StandardCharsets.ISO_8859_1);
            Decoding.Result result =
                    Verdict.decode(strict(charset), Verdict.disposition("form-data; name=\"" + sent + '"'));
            assertEquals(name, result.parts().get(0).name());
        }
        Verdict.assertRejected(
                strict(StandardCharsets.US_ASCII),
                Verdict.disposition("form-data; name=\"^\u00fc\""),
                Reason.MALFORMED_HEADER,
                0);
    }

    private static MultipartOptions strict(Charset charset) {
        return MultipartOptions.builder()
                .preset(Preset.STRICT)
                .headerCharset(charset)
                .build();
    }
}
