package dev.sluice;

import static dev.sluice.Verdict.A;
import static dev.sluice.Verdict.ALL;
import static dev.sluice.Verdict.assertRejected;
import static dev.sluice.Verdict.headers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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
            assertRejected(b == 0 ? ALL : List.of(Preset.STRICT), quoted, Reason.MALFORMED_HEADER, 0);
            if (b != 0) {
                Verdict.assertReported(Preset.STANDARD, quoted, Deviation.CONTROL_IN_DISPOSITION, 0);
                Verdict.assertAccepted(Preset.COMPATIBLE, Verdict.unmarked(quoted));
            }
        }
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
