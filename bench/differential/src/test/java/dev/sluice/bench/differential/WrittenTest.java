package dev.sluice.bench.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.Installed;
import dev.sluice.testkit.ProofSize;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All readers find the same parts in forms that Sluice has encoded or relayed. */
@Tag("sized")
class WrittenTest {
    private static final long SEED = 20_261_125;
    private static final int BODIES = ProofSize.of("sluice.written.bodies", 1_000, 100_000);

    @Test
    void writtenForms_javaParsers_findTheSameParts() {
        compare(null);
    }

    @Test
    void writtenForms_otherLanguages_findTheSameParts() {
        Path folder = ReaderProcess.folder();
        Installed.require("readers in other languages", folder != null);
        compare(folder);
    }

    private static void compare(Path folder) {
        try (Written comparison = new Written(folder, SEED)) {
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
            long refused = report.refusals().values().stream()
                    .mapToLong(count -> count)
                    .sum();
            assertTrue(report.relayed() > BODIES / 3 && refused <= report.relayed() / 100, report.refusals()::toString);
            assertEquals(
                    List.of(),
                    report.refusals().keySet().stream()
                            .filter(reason -> reason.startsWith(Sample.Origin.CORPUS.title))
                            .toList());
        }
    }
}
