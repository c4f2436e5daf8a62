package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException.Reason;
import dev.sluice.header.Bytes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Cases of the Content-Type that are not in {@link PolicyRowsTest}. */
class BoundaryTest {
    private static final String TYPE = "multipart/form-data; ";

    private static Boundary read(String contentType, Preset preset) {
        try {
            return Boundary.anyMultipart(contentType, preset);
        } catch (MultipartException e) {
            throw new AssertionError(preset + " rejects " + contentType, e);
        }
    }

    @Test
    void show_printableByte_isTheCharacter_otherByteIsHexadecimal() {
        assertEquals("'!'", Bytes.show((byte) '!'));
        assertEquals("'~'", Bytes.show((byte) '~'));
        assertEquals("0x20", Bytes.show((byte) ' '));
        assertEquals("0x7F", Bytes.show((byte) 0x7F));
        assertEquals("0xE9", Bytes.show((byte) 0xE9));
        assertEquals("0x00", Bytes.show((byte) 0));
    }

    @Test
    void boundary_withTwoDeviations_reportsBoth() {
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
    void boundary_tooLong_messageContainsTheLimitOfThePreset() {
        String type = TYPE + "boundary=" + "b".repeat(257);
        MultipartException e = assertThrows(MultipartException.class, () -> Boundary.formData(type, Preset.STANDARD));
        assertEquals("the boundary has 257 characters, more than 70", e.getMessage());
        e = assertThrows(MultipartException.class, () -> Boundary.formData(type, Preset.COMPATIBLE));
        assertEquals("the boundary has 257 characters, more than 256", e.getMessage());
    }

    @Test
    void deviationOfBoundary_isReportedFirstByDecoder() {
        try (MultipartDecoder decoder = MultipartDecoder.create(read(TYPE + "boundary=*****", Preset.STANDARD))) {
            assertEquals(List.of(new ReportedDeviation(Deviation.BOUNDARY_CHARACTERS, -1, -1)), decoder.deviations());
            assertEquals(1, decoder.deviationCount());
        }
    }

    @Test
    void mediaType_isInLowerCase() throws MultipartException {
        assertEquals(
                "multipart/form-data",
                Boundary.anyMultipart("Multipart/Form-Data; boundary=x").mediaType());
        assertTrue(Boundary.anyMultipart("MULTIPART/form-data; boundary=x").isFormData());
        Boundary mixed = Boundary.anyMultipart("multipart/Mixed; boundary=x");
        assertEquals("multipart/mixed", mixed.mediaType());
        assertFalse(mixed.isFormData());
    }

    @Test
    void formData_otherType_isRejected() throws MultipartException {
        assertEquals("x", Boundary.formData("Multipart/Form-Data; boundary=x").value());
        for (String type : List.of("multipart/mixed", "multipart/form-datax", "multipart/form", "text/plain")) {
            for (Preset preset : List.of(Preset.STRICT, Preset.STANDARD, Preset.COMPATIBLE)) {
                MultipartException e = assertThrows(
                        MultipartException.class, () -> Boundary.formData(type + "; boundary=x", preset), type);
                assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, e.reason());
                assertEquals(415, e.httpStatus());
                assertEquals(-1, e.offset());
            }
            assertThrows(MultipartException.class, () -> Boundary.formData(type + "; boundary=x"), type);
        }
        assertThrows(MultipartException.class, () -> Boundary.formData(null));
        String unusual = "multipart/form-data; boundary=*****";
        assertEquals(1, Boundary.formData(unusual).deviations().size());
        assertEquals(
                Reason.INVALID_BOUNDARY,
                assertThrows(MultipartException.class, () -> Boundary.formData(unusual, Preset.STRICT))
                        .reason());
    }

    @Test
    void contentType_missing_isRejected() {
        MultipartException e = assertThrows(MultipartException.class, () -> Boundary.formData(null));
        assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, e.reason());
        assertEquals("the Content-Type is missing: it must be multipart/form-data", e.getMessage());
        e = assertThrows(MultipartException.class, () -> Boundary.anyMultipart(null));
        assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, e.reason());
        assertEquals("the Content-Type is missing: it must be a multipart type", e.getMessage());
    }

    @Test
    void textAfterParameter_beforeBoundary_isNamed() {
        MultipartException e = assertThrows(
                MultipartException.class, () -> Boundary.formData(TYPE + "title=my file; boundary=x", Preset.STANDARD));
        assertEquals(Reason.MISSING_BOUNDARY, e.reason());
        assertEquals(
                "the Content-Type has text other than a semicolon after a parameter value, so its boundary was not read",
                e.getMessage());
    }

    @Test
    void textAfterBoundary_isNotASecondBoundary() {
        String type = TYPE + "a=\"" + "\u0130".repeat(20) + "\"; boundary=x y"; // one character, but two in lower case
        MultipartException e = assertThrows(MultipartException.class, () -> Boundary.formData(type));
        assertEquals(Reason.INVALID_BOUNDARY, e.reason());
    }

    @Test
    void contentType_notMultipart_isRejected() {
        MultipartException e = assertThrows(MultipartException.class, () -> Boundary.anyMultipart("text/plain"));
        assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, e.reason());
        assertEquals("the Content-Type is not a multipart type", e.getMessage());
    }

    @Test
    void of_createsFormDataBoundary() {
        Boundary boundary = Boundary.of("a b");
        assertEquals("a b", boundary.value());
        assertEquals("a b", boundary.toString());
        assertEquals("multipart/form-data", boundary.mediaType());
        assertTrue(boundary.isFormData());
        assertEquals(List.of(), boundary.deviations());
    }

    @Test
    void of_invalidBoundary_isIllegalArgument() {
        for (String value : List.of("", " ", "x ", "*", "a\"b", "a;b", "a\\b", "a\r\nb", "\u00e9", "b".repeat(71))) {
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Boundary.of(value), value);
            assertTrue(e.getMessage().contains("1 to 70"), e.getMessage());
        }
    }
}
