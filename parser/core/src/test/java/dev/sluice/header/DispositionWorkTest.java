package dev.sluice.header;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Decoding;
import dev.sluice.Preset;
import dev.sluice.testkit.LinearWork;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that each byte of a Content-Disposition is read a limited number of times, for every input. */
class DispositionWorkTest {
    /** The number of bytes of a value, much more than the default limits allow for a header section. */
    private static final int SIZE = 256 << 10;

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
    void work_isLinear(Case hostile) {
        LinearWork.require(hostile, SIZE, size -> {
            byte[] value = hostile.value(size);
            return () -> read(hostile.preset, value);
        });
    }

    /** Parses a value and reads the file name. */
    private static void read(Preset preset, byte[] value) {
        DispositionParser parser = new DispositionParser(preset);
        if (isParsed(parser, value)) {
            if (parser.continuation.isPresent()) {
                parser.joined(StandardCharsets.UTF_8);
            }
            if (parser.filename.isPresent()) {
                parser.filename.text(StandardCharsets.UTF_8);
            }
        }
        assertTrue(parser.found.size() <= 6, "only the first deviation of each kind is kept");
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
