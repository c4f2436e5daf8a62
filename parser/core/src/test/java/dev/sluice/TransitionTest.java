package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.Soup;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The observed transitions are exactly the ones in the table of {@link MultipartDecoder}. Bodies are fed byte by byte, so PART and
 * BODY_FULL, which read nothing, do not appear: the first is left at once, the second needs a chunk with more bytes than the limit.
 */
@Tag("sized")
class TransitionTest {
    private static final int BODIES = ProofSize.of("sluice.transition.bodies", 5_000, 30_000);

    private static final Set<String> STANDARD = transitions("""
            PREAMBLE > PREAMBLE DELIMITER FAILED
            DELIMITER > PADDING DELIMITER_CR CLOSE_DASH FAILED
            PADDING > PADDING DELIMITER_CR FAILED
            DELIMITER_CR > HEADERS FAILED
            HEADERS > HEADERS BODY FAILED
            BODY > BODY DELIMITER
            CLOSE_DASH > CLOSED FAILED
            CLOSED > CLOSED CLOSED_CR FAILED
            CLOSED_CR > EPILOGUE FAILED
            EPILOGUE > EPILOGUE FAILED
            FAILED > FAILED
            end CLOSED > ENDED
            end EPILOGUE > ENDED
            end CLOSED_CR > FAILED
            end PREAMBLE > FAILED
            end DELIMITER > FAILED
            end PADDING > FAILED
            end DELIMITER_CR > FAILED
            end CLOSE_DASH > FAILED
            end HEADERS > FAILED
            end BODY > FAILED
            """);

    /** The transitions that false delimiters, text after the close-delimiter and bare LF add if they are accepted. */
    private static final Set<String> ADDED_BY_COMPATIBLE = transitions("""
            DELIMITER > HEADERS BODY PREAMBLE
            PADDING > HEADERS BODY PREAMBLE
            DELIMITER_CR > BODY PREAMBLE
            CLOSE_DASH > BODY PREAMBLE
            CLOSED > EPILOGUE
            end CLOSED_CR > ENDED
            """);

    private static final Set<String> REMOVED_BY_COMPATIBLE = transitions("""
            DELIMITER > FAILED
            PADDING > FAILED
            DELIMITER_CR > FAILED
            CLOSE_DASH > FAILED
            CLOSED > FAILED
            CLOSED_CR > FAILED
            end CLOSED_CR > FAILED
            """);

    private static Set<String> transitions(String table) {
        return table.lines()
                .map(line -> line.split(" > "))
                .flatMap(row -> Stream.of(row[1].split(" ")).map(to -> row[0] + ">" + to))
                .collect(Collectors.toSet());
    }

    @Test
    void transitions_standardPreset_areTheDeclaredOnes() {
        assertEquals(new TreeSet<>(STANDARD), observed(Preset.STANDARD));
    }

    @Test
    void transitions_compatiblePreset_areTheDeclaredOnes() {
        TreeSet<String> declared = new TreeSet<>(STANDARD);
        declared.removeAll(REMOVED_BY_COMPATIBLE);
        declared.addAll(ADDED_BY_COMPATIBLE);
        assertEquals(declared, observed(Preset.COMPATIBLE));
    }

    @Test
    void bodyFull_followsTheLastByteThatTheLimitAllows() throws MultipartException {
        MultipartOptions options = MultipartOptions.builder().maxPartBytes(2).build();
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options)) {
            decoder.feed(
                    Unpooled.wrappedBuffer(Decoding.bytes("--x\r\nContent-Disposition: form-data; name=a\r\n\r\nabc")));
            assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
            assertEquals(MultipartDecoder.State.BODY, decoder.state);
            assertEquals(MultipartDecoder.Event.DATA, decoder.next());
            assertEquals(MultipartDecoder.State.BODY_FULL, decoder.state);
            assertThrows(MultipartException.class, decoder::next);
            assertEquals(MultipartDecoder.State.FAILED, decoder.state);
        }
    }

    private static TreeSet<String> observed(Preset preset) {
        TreeSet<String> observed = new TreeSet<>();
        Corpus.cases().stream()
                .filter(c -> c.body().length <= 4096)
                .forEach(c -> observe(c.contentType(), c.body(), preset, observed));
        for (long seed = 0; seed < BODIES; seed++) {
            Soup.Body soup = Soup.body(seed);
            observe(soup.contentType(), soup.bytes(), preset, observed);
        }
        String part = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n";
        for (String body : List.of(
                "y".repeat(5000),
                part + "\r\n--x--\r\n" + "y".repeat(5000),
                "--x" + " ".repeat(257) + "\r\n",
                "--x-y\r\n",
                "--x \n",
                part + "a\r\n--x y",
                part + "a\r\n--x-y",
                part + "a\r\n--x\ry",
                part + "\r\n--x--\ry",
                part + "\r\n--x--y",
                "--x--\r",
                "--x-",
                "--x ",
                "--x\r")) {
            observe("multipart/form-data; boundary=x", Decoding.bytes(body), preset, observed);
        }
        return observed;
    }

    private static void observe(String contentType, byte[] body, Preset preset, Set<String> observed) {
        Boundary boundary;
        try {
            boundary = Boundary.anyMultipart(contentType, preset);
        } catch (MultipartException e) {
            return; // rejected before the first byte
        }
        Decoding decoding =
                new Decoding(boundary, MultipartOptions.builder().preset(preset).build());
        MultipartDecoder decoder = decoding.decoder();
        for (int i = 0; i < body.length; i++) {
            MultipartDecoder.State before = decoder.state;
            decoding.feed(Unpooled.wrappedBuffer(body, i, 1));
            observed.add(before + ">" + decoder.state);
        }
        if (decoder.state != MultipartDecoder.State.FAILED) {
            MultipartDecoder.State before = decoder.state;
            decoding.finish();
            observed.add("end " + before + ">" + decoder.state);
        }
        decoder.close();
    }
}
