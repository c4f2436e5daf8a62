package dev.sluice;

import static dev.sluice.Verdict.A;
import static dev.sluice.Verdict.ALL;
import static dev.sluice.Verdict.STRICT;
import static dev.sluice.Verdict.assertRejected;
import static dev.sluice.Verdict.headers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.ChunkMemory;
import dev.sluice.header.Deviations;
import dev.sluice.header.HeaderSection;
import dev.sluice.header.Rejection;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Cases of header sections that are not in {@link PolicyRowsTest}. */
class HeaderSectionTest {
    /** The blanks may include a fold. The first of them may be before or after the line end. */
    @Test
    void blanksAfterEqualsSign_areReportedAtFirstBlank() {
        for (String value : List.of(
                "form-data; name=^ \r\n a",
                "form-data; name=^\t \t\r\n a",
                "form-data; name=\r\n^ a",
                "form-data; name=\r\n^\t \ta",
                "form-data; name=^ a",
                "form-data;\r\n name=^ \r\n\ta")) {
            String marked = Verdict.disposition(value);
            Result result = Verdict.decode(Verdict.COMPATIBLE, Verdict.unmarked(marked));
            assertEquals("a", result.parts().get(0).name(), value);
            assertEquals(
                    List.of((long) marked.indexOf('^')),
                    result.deviations().stream()
                            .filter(each -> each.kind() == Deviation.DISPOSITION_SYNTAX)
                            .map(ReportedDeviation::offset)
                            .toList(),
                    value);
        }
    }

    @Test
    void controlByteInValue_isRejected_exceptInQuotedParameter() {
        for (int b = 0; b < 256; b++) {
            boolean control = b < ' ' && b != '\t' || b == 0x7F;
            if (!control || b == '\n' || b == '\r') {
                continue;
            }
            assertRejected(ALL, headers(A + "X: a^" + (char) b + "b\r\n"), Reason.MALFORMED_HEADER, 0);
            assertRejected(
                    ALL,
                    headers("Content-Disposition: form-data; name=a^" + (char) b + "\r\n"),
                    Reason.MALFORMED_HEADER,
                    0);
            String quoted = headers("Content-Disposition: form-data; name=\"a^" + (char) b + "\"\r\n");
            assertRejected(b == 0 ? ALL : List.of(STRICT), quoted, Reason.MALFORMED_HEADER, 0);
            if (b != 0) {
                Verdict.assertReported(Preset.STANDARD, quoted, Deviation.CONTROL_IN_DISPOSITION, 0);
                Verdict.assertAccepted(Preset.COMPATIBLE, Verdict.unmarked(quoted));
            }
        }
    }

    @Test
    void transferEncoding_outsideOfFormData_isChecked() throws MultipartException {
        Boundary mixed = Boundary.anyMultipart("multipart/mixed; boundary=x");
        byte[] body = Decoding.bytes("--x\r\nContent-Transfer-Encoding: base64\r\n\r\ndg==\r\n--x--");
        Result result = Decoding.decode(mixed, body, MultipartOptions.defaults(), 1);
        assertNull(result.failure());
        assertEquals(List.of(new ReportedDeviation(Deviation.TRANSFER_ENCODING, 0, 32)), result.deviations());
        MultipartOptions strict = MultipartOptions.builder().preset(STRICT).build();
        assertEquals(
                new Decoding.Failure(Reason.UNSUPPORTED_TRANSFER_ENCODING, 32, 0),
                Decoding.decode(mixed, body, strict, 1).failure());
    }

    @Test
    void headers_outsideOfFormData_mayBeMissing() throws MultipartException {
        Boundary mixed = Boundary.anyMultipart("multipart/mixed; boundary=x");
        Result result = Decoding.decode(mixed, Decoding.bytes("--x\r\n\r\nv\r\n--x--"), MultipartOptions.defaults(), 1);
        assertNull(result.failure());
        assertEquals("v", result.parts().get(0).body());
        assertNull(result.parts().get(0).name());
        assertNull(result.parts().get(0).filename());
        assertNull(result.parts().get(0).contentType());
        assertEquals(List.of(), result.parts().get(0).headers());
    }

    @Test
    void twoLimits_exceededAtOneByte_reportTheLimitOfThePart() {
        MultipartOptions options = MultipartOptions.builder()
                .maxHeaderBytesPerPart(50)
                .maxHeaderBytes(50)
                .build();
        String section = "X: " + "v".repeat(60);
        assertRejected(
                options,
                "--x\r\n" + section.substring(0, 50) + "^" + section.substring(50),
                Reason.HEADER_SECTION_TOO_LARGE,
                0);
    }

    @Test
    void malformedLine_messageNamesProblem() {
        assertEquals("a header field has no name: ':'", messageOf(": b\r\n"));
        assertEquals("a header name contains the byte: 0x01", messageOf("\u0001: b\r\n"));
        assertEquals("a header name contains the byte: '('", messageOf("a(c: b\r\n"));
        assertEquals("a header line has no colon: 0x0D", messageOf("abc\r\n"));
        assertEquals("a header line has no colon: 0x0A", messageOf("abc\n"));
        assertEquals("a header line starts with a blank", messageOf(" a: b\r\n"));
        assertEquals("a header value contains the control byte: 0x01", messageOf("a: \u0001\r\n"));
        assertEquals("a header line has a CR without an LF", messageOf("a: b\rc\r\n"));
    }

    private static String messageOf(String line) {
        try (HeaderSection section = section()) {
            Rejection rejected = assertThrows(Rejection.class, () -> read(section, line));
            assertEquals(Reason.MALFORMED_HEADER, rejected.reason);
            return rejected.detail + (rejected.seen == null ? "" : ": " + rejected.seen);
        }
    }

    private static HeaderSection section() {
        return new HeaderSection(MultipartOptions.defaults(), "x", true, new Deviations(Preset.STANDARD, List.of()));
    }

    private static void read(HeaderSection section, String bytes) throws Rejection {
        section.begin(0, 0);
        ChunkMemory chunk = new ChunkMemory();
        chunk.open(Unpooled.wrappedBuffer(Decoding.bytes(bytes)));
        section.read(chunk, 0, chunk.end());
        chunk.close();
    }
}
