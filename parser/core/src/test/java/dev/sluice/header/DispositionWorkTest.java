package dev.sluice.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Decoding;
import dev.sluice.Preset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each byte of a Content-Disposition is read a bounded number of times, for every input. Counts steps, not time. */
class DispositionWorkTest {
    /** Double the largest section that the default limits allow, and a hundred times what they do. */
    private static final int[] SIZES = {16 << 10, 800 << 10};

    private record Case(String name, String before, String token, String after, Preset preset) {
        byte[] value(int size) {
            return Decoding.bytes(before + token.repeat(size / token.length()) + after);
        }

        @Override
        public String toString() {
            return name + " " + preset;
        }
    }

    static Stream<Case> hostileValues() {
        String start = "form-data; name=\"a\"";
        List<Case> cases = new ArrayList<>();
        for (Preset preset : List.of(Preset.STRICT, Preset.STANDARD, Preset.COMPATIBLE)) {
            cases.add(new Case("escaped quotes that end", start + "; filename=\"", "\\\"", "\"", preset));
            cases.add(new Case("escaped quotes without end", start + "; filename=\"", "\\\"", "", preset));
            cases.add(new Case("backslashes", start + "; filename=\"", "\\", "\"", preset));
            cases.add(new Case("a backslash at the end", start + "; filename=\"", "x", "\\", preset));
            cases.add(new Case("quotes inside of a value", start + "; filename=\"", "\"", "", preset));
            cases.add(new Case("quotes inside of a value that ends", start + "; filename=\"", "x\"x", "\"", preset));
            cases.add(new Case("quotes and blanks", start + "; filename=\"", "\" ", "", preset));
            cases.add(new Case("quotes and many blanks", start + "; filename=\"", "\"" + " ".repeat(99), "x", preset));
            cases.add(new Case("many parameters", start, ";a=", "", preset));
            cases.add(new Case("many parameters with values", start, ";a=b", "", preset));
            cases.add(new Case("many parameters without value", start, "; a", "", preset));
            cases.add(new Case("many empty parameters", start, ";", "", preset));
            cases.add(new Case("blanks between parameters", start, ";" + " ".repeat(99), "", preset));
            cases.add(new Case("blanks around equals signs", start, "; a \t = \t b", "", preset));
            cases.add(new Case("one value of many words", start + "; filename=", "x ", "", preset));
            cases.add(new Case("a long parameter name", start + "; ", "x", "=y", preset));
            cases.add(new Case("a long type", "", "x", "", preset));
            cases.add(new Case("equals signs", start + "; a", "=", "", preset));
            cases.add(new Case("pieces of one number", start, "; filename*0=\"\\\"\"", "", preset));
            cases.add(new Case("an extended value", start + "; filename*=UTF-8''", "%41", "", preset));
        }
        return cases.stream();
    }

    @ParameterizedTest
    @MethodSource("hostileValues")
    void steps_areAtMostFourPerByte(Case hostile) {
        for (int size : SIZES) {
            byte[] value = hostile.value(size);
            long steps = steps(hostile, value);
            assertTrue(steps <= 4L * value.length + 100, hostile + ": " + steps + " steps for " + value.length);
            assertTrue(steps > 0);
        }
    }

    /** Values with escapes and continuations are copied. They are not searched again. */
    @ParameterizedTest
    @MethodSource("hostileValues")
    void steps_ofReadingValues_areBounded(Case hostile) {
        byte[] value = hostile.value(SIZES[0]);
        DispositionParser parser = new DispositionParser(hostile.preset);
        if (isParsed(parser, value)) {
            long before = parser.steps();
            if (parser.continuation.isPresent()) {
                parser.joined(StandardCharsets.UTF_8);
            }
            if (parser.filename.isPresent()) {
                parser.filename.text(StandardCharsets.UTF_8);
            }
            long steps = parser.steps() - before;
            assertTrue(steps <= 2L * value.length + 100, hostile + ": " + steps + " steps for " + value.length);
        }
    }

    /** One step for each byte that is read, and one for each decision, at every position of the value in the array. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "form-data | 11",
                "form-data; name=a | 21",
                "form-data; name=\"a\\\"b\" | 25",
            })
    void countsItsSteps(String value, long expected) throws Rejection {
        for (int from : new int[] {0, 100}) {
            byte[] bytes = Decoding.bytes(" ".repeat(from) + value);
            DispositionParser parser = new DispositionParser(Preset.STANDARD);
            parser.parse(bytes, from, bytes.length);
            assertEquals(expected, parser.steps());
        }
    }

    @Test
    void steps_countReadValues() throws Rejection {
        byte[] bytes = Decoding.bytes("form-data; name=\"a\\\"b\"");
        DispositionParser parser = new DispositionParser(Preset.STANDARD);
        parser.parse(bytes, 0, bytes.length);
        long before = parser.steps();
        assertEquals("a\"b", parser.name.text(StandardCharsets.UTF_8));
        assertEquals(4, parser.steps() - before);
    }

    private static long steps(Case hostile, byte[] value) {
        DispositionParser parser = new DispositionParser(hostile.preset);
        isParsed(parser, value);
        assertTrue(parser.found.size() <= 6, "of each kind the first is noted");
        return parser.steps();
    }

    private static boolean isParsed(DispositionParser parser, byte[] value) {
        try {
            parser.parse(value, 0, value.length);
            return true;
        } catch (Rejection e) {
            return false;
        }
    }
}
