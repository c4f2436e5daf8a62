package dev.sluice.threats;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.testkit.HostileBodies;
import dev.sluice.testkit.LinearWork;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.Soup;
import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** Section A of threats.md, the search for the boundary: buffer geometry and algorithmic complexity. */
@Timeout(value = 180, threadMode = ThreadMode.SEPARATE_THREAD)
class BoundarySearchTest {
    /** The maximum number of bytes held: twice the largest header section, because buffers grow by doubling, plus one block. */
    private static final long MOST_HELD = 2 * 8192 + 512;

    private static final int LONG_PART = ProofSize.of("sluice.longPart", 4 << 20, 50 << 20);

    private static final int[] CHUNKS = {1, 2, 7, 64, 71, 72, 73, 74, 75, 76, 1460, 8192, 1 << 20};

    private static Run run(String boundary, byte[] body, Preset preset, int chunkSize) {
        try {
            Boundary parsed = Boundary.anyMultipart("multipart/form-data; boundary=\"" + boundary + '"', preset);
            MultipartOptions options = MultipartOptions.builder().preset(preset).build();
            return Run.of(parsed, new ByteArrayInputStream(body), options, chunkSize);
        } catch (MultipartException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] body(String boundary, String data) {
        return Run.bytes("--" + boundary + "\r\n" + Run.FIELD + "\r\n" + data + "\r\n--" + boundary + "--\r\n");
    }

    private static String random(int size) {
        StringBuilder bytes = new StringBuilder(size);
        Random random = new Random(1);
        for (int i = 0; i < size; i++) {
            bytes.append((char) random.nextInt(256));
        }
        return bytes.toString();
    }

    @Test
    void cve_2014_0050_boundaryOfAnyLength_isAcceptedOrRejectedEarly() {
        for (int length = 0; length <= 5000; length++) {
            String contentType = "multipart/form-data; boundary=" + "b".repeat(length);
            for (Preset preset : Run.PRESETS) {
                if (length == 0 || length > (preset == Preset.COMPATIBLE ? 256 : 70)) {
                    MultipartException rejected =
                            assertThrows(MultipartException.class, () -> Boundary.anyMultipart(contentType, preset));
                    assertEquals(Reason.INVALID_BOUNDARY, rejected.reason());
                }
            }
        }
        for (int length = 1; length <= 256; length++) {
            String boundary = "b".repeat(length);
            byte[] body = body(boundary, "\r\n--" + boundary.substring(1) + "c" + boundary);
            for (int chunkSize : new int[] {1, 2, length, length + 3, length + 4, length + 5, body.length}) {
                Run run = run(boundary, body, Preset.COMPATIBLE, chunkSize).assertAccepted();
                assertEquals(1, run.parts.size());
                assertTrue(run.calls <= 2 * run.chunks + 8, "calls: " + run.calls + ", chunks: " + run.chunks);
            }
        }
    }

    @Test
    void cve_2016_3092_longBoundary_inAnyChunkSize_causesFewCalls() {
        String data = random(128 << 10);
        for (int chunkSize : CHUNKS) {
            Run small = run("b".repeat(16), body("b".repeat(16), data), Preset.STANDARD, chunkSize);
            Run large = run("b".repeat(70), body("b".repeat(70), data), Preset.STANDARD, chunkSize);
            // At most three calls for each chunk: data is not delivered in small pieces.
            for (Run run : List.of(small, large)) {
                assertTrue(run.calls <= 3 * run.chunks + 8, "calls: " + run.calls + ", chunks: " + run.chunks);
            }
        }
    }

    @Test
    void cve_2018_16470_largeBuffer_isSearchedOnce() {
        MultipartOptions options = Run.options(limits -> limits.unlimitedParts().unlimitedHeaderBytes());
        String part = "\r\n--x\r\n" + Run.FIELD + "\r\n";
        LinearWork.require("parts in one chunk", 5000, count -> () -> {
            Run run = Run.of(new Repeated("", part, count, "\r\n--x--\r\n"), options, 1 << 20)
                    .assertAccepted();
            assertEquals(1, run.chunks);
            assertEquals(count, run.parts.size());
        });
    }

    @Tag("sized")
    @Test
    void cve_2023_46136_partStartingWithLineEnd_isNotKeptInMemory() {
        for (String start : List.of("\r", "\n", "\r\n", "\r\n-")) {
            for (int chunkSize : new int[] {1, 13, 1024, 64 << 10}) {
                int size = chunkSize == 1 ? LONG_PART >> 6 : LONG_PART;
                Run run = Run.of(
                                new Repeated(Run.HEAD + start, "a", size, Run.TAIL),
                                MultipartOptions.defaults(),
                                chunkSize == 13 ? 13 << 10 : chunkSize)
                        .assertAccepted();
                assertTrue(run.mostHeld <= 512, "held: " + run.mostHeld);
            }
        }
    }

    @Test
    void cve_2024_30251_anyBody_takesLinearWork() {
        SplittableRandom random = new SplittableRandom(30251);
        for (int seed = 0; seed < 20; seed++) {
            assertWorkIsLinear(new String(Soup.body(seed).bytes(), ISO_8859_1), 1 + random.nextInt(200));
        }
    }

    /** Checks the work for text that is repeated before the first delimiter, in a part, or after the last delimiter. */
    private static void assertWorkIsLinear(String text, int chunkSize) {
        MultipartOptions large = Run.options(
                Preset.COMPATIBLE, limits -> limits.maxPreambleBytes(1 << 20).maxEpilogueBytes(1 << 20));
        for (String template :
                List.of("~" + Run.HEAD + Run.TAIL, Run.HEAD + "~" + Run.TAIL, Run.HEAD + Run.TAIL + "~")) {
            LinearWork.require(template + ": " + text, 32 << 10, size -> {
                String body = template.replace("~", text.repeat(size / text.length() + 1));
                return () -> Run.of(body, large, chunkSize);
            });
        }
    }

    @Test
    void cve_2024_53981_textAroundParts_isRejectedEarlyAndReportedOnce() {
        Repeated before = new Repeated("", "p", 10 << 20, "\r\n" + Run.HEAD + Run.TAIL);
        Repeated after = new Repeated(Run.HEAD + Run.TAIL, "e", 10 << 20, "");
        assertEndsEarly(Run.of(before, MultipartOptions.defaults(), 64), Reason.PREAMBLE_TOO_LARGE, 4096 + 64);
        assertEndsEarly(Run.of(after, MultipartOptions.defaults(), 64), Reason.EPILOGUE_TOO_LARGE, 4096 + 192);
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        Run strictlyAfter = Run.of(new Repeated(Run.HEAD + Run.TAIL, "e", 10 << 20, ""), strict, 1);
        assertEndsEarly(strictlyAfter, Reason.EPILOGUE, Run.HEAD.length() + Run.TAIL.length() + 1);
        assertEndsEarly(
                Run.of(new Repeated("", "p", 10 << 20, "\r\n" + Run.HEAD + Run.TAIL), strict, 1),
                Reason.PREAMBLE,
                4096 + 1);
        assertEndsEarly(Run.of("p" + "\r\n" + Run.HEAD + Run.TAIL, strict, 1), Reason.PREAMBLE, 8);
    }

    private static void assertEndsEarly(Run run, Reason reason, long fed) {
        run.assertRejected(reason);
        assertTrue(run.fed <= fed, "fed: " + run.fed);
        assertTrue(run.deviationCount <= 1, "reported: " + run.deviations);
    }

    @Test
    void cve_2026_40347_lineEndsAroundParts_countAsText() {
        for (int chunkSize : new int[] {1, 2, 3, 1000}) {
            Repeated before = new Repeated("", "\r\n", 5 << 20, Run.HEAD + Run.TAIL);
            assertEndsEarly(
                    Run.of(before, MultipartOptions.defaults(), chunkSize),
                    Reason.PREAMBLE_TOO_LARGE,
                    4096 + 2 + chunkSize);
            Repeated after = new Repeated(Run.HEAD + Run.TAIL, "\r\n", 5 << 20, "");
            assertEndsEarly(
                    Run.of(after, MultipartOptions.defaults(), chunkSize),
                    Reason.EPILOGUE_TOO_LARGE,
                    Run.HEAD.length() + Run.TAIL.length() + 4096 + 1 + chunkSize);
        }
    }

    @Test
    void pythonMultipart_281_dataLikeDelimiters_takesLinearWork() {
        for (HostileBodies.Body hostile : HostileBodies.all()) {
            for (int chunkSize : CHUNKS) {
                LinearWork.require(hostile + " in chunks of " + chunkSize, 32 << 10, size -> {
                    byte[] body = hostile.bytes(size);
                    return () -> {
                        Run run = run(hostile.boundary(), body, Preset.STANDARD, chunkSize);
                        assertTrue(run.mostHeld <= MOST_HELD, hostile + ": held " + run.mostHeld);
                    };
                });
            }
        }
    }

    @Test
    void cve_2025_61770_preamble_isNotKeptInMemory() {
        MultipartOptions large = Run.options(limits -> limits.maxPreambleBytes(16 << 20));
        for (String token : List.of("p", "\r", "\r\n", "\r\n--y")) {
            Run run = Run.of(new Repeated("", token, 1 << 20, "\r\n" + Run.HEAD + Run.TAIL), large, 4096)
                    .assertAccepted();
            assertEquals(1, run.parts.size());
            assertTrue(run.mostHeld <= 512, "held: " + run.mostHeld);
        }
    }

    @Test
    void cve_2026_125111_parsedData_atAnyAlignment_isDiscarded() {
        MultipartOptions options = Run.options(limits -> limits.unlimitedParts().unlimitedHeaderBytes());
        for (int fill = 0; fill < 24; fill++) {
            String part = "\r\n--x\r\n" + Run.FIELD + "\r\n" + "v".repeat(fill);
            for (int chunkSize : new int[] {1, 16, part.length() - 1, part.length(), part.length() + 1, 128, 512}) {
                Run run = Run.of(new Repeated("", part, 400, Run.TAIL), options, chunkSize)
                        .assertAccepted();
                assertEquals(400, run.parts.size());
                assertTrue(run.mostHeld <= 1024, fill + " in chunks of " + chunkSize + ": held " + run.mostHeld);
            }
        }
    }

    @Test
    void busboy_632a237_delimiterOfAnyLength_isFound() {
        String data = random(96 << 10);
        for (int length = 1; length <= 256; length++) {
            String boundary = "b".repeat(length);
            byte[] body = body(boundary, data);
            for (int chunkSize : length % 64 < 60 && length % 64 > 1 ? new int[] {40_000} : new int[] {100, 40_000}) {
                Run run = run(boundary, body, Preset.COMPATIBLE, chunkSize).assertAccepted();
                assertEquals(1, run.parts.size());
            }
        }
    }
}
