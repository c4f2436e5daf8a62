package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartDecoder.State;
import io.netty.buffer.Unpooled;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The transitions between the states of the decoder, which its Javadoc lists. They are found with random bodies that are fed byte by byte,
 * with small limits. Bodies are of type {@code multipart/mixed}, so that a header section can be empty.
 */
class StateTableTest {
    private static final int BODIES = 50_000;
    private static final int MOST_TOKENS = 16;
    private static final String[] TOKENS = {"--a", "\r\n--a", "\r\n", "\r", "\n", "--", "-", " ", "b", "A:"};
    private static final Set<String> STANDARD = transitions("""
            PREAMBLE > PREAMBLE DELIMITER FAILED
            DELIMITER > PADDING DELIMITER_CR CLOSE_DASH FAILED
            PADDING > PADDING DELIMITER_CR FAILED
            DELIMITER_CR > HEADERS FAILED
            HEADERS > HEADERS BODY FAILED
            BODY > BODY DELIMITER FAILED
            CLOSE_DASH > CLOSED FAILED
            CLOSED > CLOSED CLOSED_CR FAILED
            CLOSED_CR > EPILOGUE FAILED
            EPILOGUE > EPILOGUE FAILED
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

    /** The transitions that are added if false delimiters, text after the close-delimiter and bare LF are accepted. */
    private static final Set<String> ADDED_BY_COMPATIBLE = transitions("""
            DELIMITER > HEADERS BODY PREAMBLE
            PADDING > HEADERS BODY PREAMBLE
            DELIMITER_CR > BODY PREAMBLE
            CLOSE_DASH > BODY PREAMBLE
            CLOSED > EPILOGUE
            end CLOSED_CR > ENDED
            """);

    private static final Set<String> REMOVED_BY_COMPATIBLE = transitions("""
            CLOSED > FAILED
            CLOSED_CR > FAILED
            end CLOSED_CR > FAILED
            """);

    private static Set<String> transitions(String table) {
        return table.lines()
                .map(line -> line.split(" > "))
                .flatMap(row -> Stream.of(row[1].split(" ")).map(to -> row[0] + ">" + to))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void transitions_areTheDeclaredOnes() throws MultipartException {
        assertEquals(STANDARD, transitionsOf(Preset.STANDARD));
        Set<String> compatible = new TreeSet<>(STANDARD);
        compatible.removeAll(REMOVED_BY_COMPATIBLE);
        compatible.addAll(ADDED_BY_COMPATIBLE);
        assertEquals(compatible, transitionsOf(Preset.COMPATIBLE));
    }

    private static Set<String> transitionsOf(Preset preset) throws MultipartException {
        Boundary boundary = Boundary.anyMultipart("multipart/mixed; boundary=a");
        MultipartOptions options = MultipartOptions.builder()
                .preset(preset)
                .maxPartBytes(6)
                .maxParts(2)
                .maxPreambleBytes(6)
                .maxEpilogueBytes(2)
                .maxHeaderBytesPerPart(6)
                .maxHeadersPerPart(1)
                .build();
        SplittableRandom random = new SplittableRandom(1);
        Set<String> found = new TreeSet<>();
        for (int i = 0; i < BODIES; i++) {
            try (MultipartDecoder decoder = MultipartDecoder.create(boundary, options)) {
                for (int tokens = random.nextInt(MOST_TOKENS); tokens > 0; tokens--) {
                    for (byte b : Decoding.bytes(TOKENS[random.nextInt(TOKENS.length)])) {
                        found.add(transition(decoder, () -> decoder.feed(Unpooled.wrappedBuffer(new byte[] {b}))));
                    }
                }
                found.add("end " + transition(decoder, decoder::finish));
            }
        }
        found.removeIf(transition -> transition.contains("FAILED>"));
        return found;
    }

    /** {@return the states before and after this input} */
    private static String transition(MultipartDecoder decoder, Runnable input) {
        State before = decoder.state;
        input.run();
        try {
            for (Event event = null; event != Event.NEED_INPUT && event != Event.END; ) {
                event = decoder.next();
            }
        } catch (MultipartException e) {
            // the state is FAILED
        }
        return before + ">" + decoder.state;
    }

    /** No chunk of one byte leads to this state. */
    @Test
    void bodyFull_followsTheLastByteThatTheLimitAllows() throws MultipartException {
        MultipartOptions options = MultipartOptions.builder().maxPartBytes(2).build();
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options)) {
            decoder.feed(
                    Unpooled.wrappedBuffer(Decoding.bytes("--x\r\nContent-Disposition: form-data; name=a\r\n\r\nabc")));
            assertEquals(Event.PART_BEGIN, decoder.next());
            assertEquals(State.BODY, decoder.state);
            assertEquals(Event.DATA, decoder.next());
            assertEquals(State.BODY_FULL, decoder.state);
            assertThrows(MultipartException.class, decoder::next);
            assertEquals(State.FAILED, decoder.state);
        }
    }
}
