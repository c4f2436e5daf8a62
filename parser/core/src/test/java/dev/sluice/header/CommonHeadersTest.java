package dev.sluice.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Decoding;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.testkit.ProofSize;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link CommonHeaders} has the same result as the state machine of {@link HeaderSection}, which reads a section that is split. */
class CommonHeadersTest {
    private static final String NAME = "Content-Disposition: form-data; name=\"a b\"";
    private static final String FILENAME = "; filename=\"f.txt\"";
    private static final String TYPE = "\r\nContent-Type: text/plain";
    private static final String END = "\r\n\r\n";

    private static final List<String> USUAL =
            List.of(NAME + END, NAME + FILENAME + END, NAME + TYPE + END, NAME + FILENAME + TYPE + END);

    private static final int STEP = ProofSize.of("sluice.usual.step", 5, 1);
    private static final String MEANINGFUL = "\u0000\t\n\r \"'*/:;=\\\u007f\u0080\u00ff";

    private static boolean isCommon(String section) {
        byte[] bytes = (" " + section + "data").getBytes(StandardCharsets.ISO_8859_1);
        return new CommonHeaders().matches(bytes, 1, bytes.length);
    }

    private static MultipartOptions options(Preset preset) {
        return MultipartOptions.builder().preset(preset).build();
    }

    private static void assertSameBothWays(String section, MultipartOptions options) {
        String body = "--x\r\n" + section + "data\r\n--x--";
        Result atOnce = Decoding.decode(body, options, Integer.MAX_VALUE);
        Result cut = Decoding.decode(body, options, "--x\r\n".length() + 20);
        assertEquals(cut, atOnce, () -> options.preset() + " " + section);
    }

    @Test
    void matches_acceptsHeadersOfClients() {
        for (String section : USUAL) {
            assertTrue(isCommon(section), section);
        }
        assertTrue(
                isCommon(NAME.replace("a b", "") + "; filename=\"\"\r\nContent-Type: application/octet-stream" + END));
    }

    @Test
    void matches_ambiguousHeaders_isFalse() {
        for (String other : List.of(
                "",
                NAME,
                NAME + "\r\n",
                NAME + "\r\n\r",
                NAME + "\r\nX: y" + END,
                NAME + ";" + END,
                NAME + "; filename=f" + END,
                NAME + "; name=\"c\"" + END,
                NAME.replace("a b", "a\\\"b") + END,
                NAME.replace("a b", "a\\b") + END,
                NAME.replace("a b", "\u00e4") + END,
                NAME.replace("a b", "\t") + END,
                NAME.replace("form-data", "Form-Data") + END,
                NAME + "\r\nContent-Type: " + END,
                NAME + "\r\nContent-Type:  a/b" + END,
                NAME + TYPE + " " + END,
                NAME + TYPE + "; charset=\"utf-8\"" + END,
                NAME + TYPE + TYPE + END,
                NAME + "\r\nContent-Type: multipart/mixed" + END,
                NAME + "\r\nContent-Type: MULTIPART/mixed" + END,
                NAME + TYPE + "\r\n folded" + END)) {
            assertFalse(isCommon(other), other);
        }
    }

    /** Tries every byte at each position. Short builds try every fifth byte and all bytes with a meaning. */
    @Tag("sized")
    @ParameterizedTest
    @ValueSource(strings = {"STANDARD", "STRICT", "COMPATIBLE"})
    void everyByteAtEveryPosition_hasTheSameResultOnBothPaths(String preset) {
        MultipartOptions options = options(Preset.named(preset));
        for (String usual : USUAL) {
            for (int at = 0; at < usual.length(); at++) {
                for (char b = 0; b < 256; b++) {
                    if (b % STEP != at % STEP && MEANINGFUL.indexOf(b) < 0) {
                        continue;
                    }
                    assertSameBothWays(usual.substring(0, at) + b + usual.substring(at + 1), options);
                }
                assertSameBothWays(usual.substring(0, at) + usual.substring(at + 1), options);
                assertSameBothWays(usual.substring(0, at) + "\"" + usual.substring(at), options);
            }
        }
    }

    @Test
    void limitOfAnyValue_hasTheSameResultOnBothPaths() {
        String section = USUAL.get(3);
        for (int limit = 0; limit <= section.length() + 1; limit++) {
            int bytes = limit;
            assertSameBothWays(section, limits(l -> l.maxHeaderBytesPerPart(Math.max(1, bytes))));
            assertSameBothWays(section, limits(l -> l.maxHeaderBytes(Math.max(1, bytes))));
        }
        for (int count = 1; count <= 3; count++) {
            int most = count;
            assertSameBothWays(section, limits(l -> l.maxHeadersPerPart(most)));
        }
        assertSameBothWays(section, limits(l -> l.maxFiles(0)));
    }

    private static MultipartOptions limits(UnaryOperator<MultipartOptions.Builder> change) {
        return change.apply(MultipartOptions.builder()).build();
    }
}
