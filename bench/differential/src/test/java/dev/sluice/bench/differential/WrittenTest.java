package dev.sluice.bench.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.ProofSize;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All readers find the same parts in forms that Sluice has encoded or relayed. */
@Tag("sized")
class WrittenTest {
    private static final long SEED = 20_261_125;
    private static final int BODIES = ProofSize.of("sluice.written.bodies", 500, 25_000);

    @Test
    void writtenForms_javaParsers_findTheSameParts() {
        compare(Map.of());
    }

    @Test
    void writtenForms_otherLanguages_findTheSameParts() {
        compare(InstalledReaders.require());
    }

    @Test
    void charset_otherThanUtf8_isRecognized() {
        for (String type : List.of("text/plain; charset=latin1", "a/b;CHARSET=\"utf-16\"", "a/b; charset=utf-80")) {
            assertTrue(Written.hasOtherCharset(sample(type)), type);
        }
        for (String type :
                List.of("text/plain", "a/b; charset=utf-8", "a/b; Charset=UTF-8", "a/b; charset=\"Utf-8\"")) {
            assertFalse(Written.hasOtherCharset(sample(type)), type);
        }
    }

    private static Sample sample(String type) {
        String body =
                "--x\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: " + type + "\r\n\r\nb\r\n--x--";
        return new Sample(
                Sample.Origin.CRAFTED, "multipart/form-data; boundary=x", body.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static void compare(Map<Contender, ReaderProcess> readers) {
        Written comparison = new Written(readers, SEED);
        comparison.encode(0, BODIES / 3);
        comparison.relay(0, BODIES, 10);
        Written.Report report = comparison.report(Provenance.now("", Map.of()));
        assertEquals(
                Map.of(),
                report.readers().stream()
                        .filter(row -> row.differs > 0)
                        .collect(Collectors.toMap(row -> row.reader, row -> row.examples)));
        for (Written.Row row : report.readers()) {
            assertTrue(row.rejects < row.same / 5, () -> row.reader + ": " + row.examples);
        }
        long refused =
                report.refusals().values().stream().mapToLong(count -> count).sum();
        assertTrue(report.relayed() > BODIES / 3 && refused <= report.relayed() / 100, report.refusals()::toString);
        assertEquals(
                List.of(),
                report.refusals().keySet().stream()
                        .filter(reason -> reason.startsWith(Sample.Origin.CORPUS.title))
                        .toList());
    }
}
