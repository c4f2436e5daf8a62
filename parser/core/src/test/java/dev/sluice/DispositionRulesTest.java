package dev.sluice;

import static dev.sluice.Verdict.ALL;
import static dev.sluice.Verdict.STRICT;
import static dev.sluice.Verdict.assertRefused;
import static dev.sluice.Verdict.disposition;
import static dev.sluice.Verdict.headers;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.sluice.Decoding.Part;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Content-Dispositions, beside what {@link PolicyRowsTest} has of them. */
class DispositionRulesTest {
    private static void assertNames(Result result, @Nullable String name, @Nullable String filename) {
        assertNull(result.failure(), result::toString);
        Part part = result.parts().get(0);
        assertEquals(name, part.name());
        assertEquals(filename, part.filename());
    }

    @Test
    void percentEscapesAreLiteralUnlessAskedFor() {
        String value = "form-data; name=\"a%22b%0D%0Ac%20%2e\"; filename=\"%22%0d%0a%41%\"";
        for (Preset preset : ALL) {
            MultipartOptions options = MultipartOptions.builder()
                    .preset(preset)
                    .decodePercentEscapes(true)
                    .build();
            assertNames(Verdict.decode(options, disposition(value)), "a\"b\r\nc%20%2e", "\"\r\n%41%");
        }
    }

    @Test
    void theRawBytesOfAnUndecodableNameAreAvailable() throws MultipartException {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
            decoder.feed(Unpooled.wrappedBuffer(
                    Decoding.bytes(disposition("form-data; name=\"\u00fc\\\"\"; filename=\"\u0080\""))));
            decoder.next();
            assertArrayEquals(
                    Decoding.bytes("form-data; name=\"\u00fc\\\"\"; filename=\"\u0080\""),
                    decoder.head().rawHeader(0));
            assertEquals("\uFFFD\"", decoder.head().name());
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
}
