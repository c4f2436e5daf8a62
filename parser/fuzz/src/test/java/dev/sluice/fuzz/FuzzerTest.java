package dev.sluice.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.ProofSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A short run with the engine, and the record of what was run. */
@Tag("sized")
class FuzzerTest {
    private static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    /** A build that failed by chance would tell nothing of its change; {@code .ci/fuzz} looks for what is new. */
    private static final int SEED = 20_261_123;

    @TempDir
    Path directory;

    /** In each build only the way that learns the most, as the other one learns nothing beside it. */
    static List<Boolean> ways() {
        return Boolean.getBoolean("sluice.full") ? List.of(true, false) : List.of(true);
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aShortRunGetsBeyondTheSeedsAndFindsNothing(boolean comparisons) throws Exception {
        Fuzzer fuzzer = new Fuzzer(Target.EVERY, directory, CLASS_PATH);
        Fuzzer.Run run = fuzzer.run(60, ProofSize.of("sluice.fuzz.executions", 2_500, 20_000), comparisons, SEED);
        assertFalse(run.found(), run.output());
        assertTrue(run.executions() > Seeds.of(Target.EVERY).size(), run.output());
        assertTrue(run.coverage() > 1000, run.output());
    }

    @Test
    void executionsOfADayAddUp() throws IOException {
        Path file = directory.resolve("executions.json");
        new Executions(file).add(Target.PARTITION, 10, 1);
        new Executions(file).add(Target.HEADER, 5, 1);
        new Executions(file).add(Target.PARTITION, 20, 2);
        assertEquals(35, new Executions(file).total());
        String json = Files.readString(file);
        assertTrue(json.contains("\"executions\" : 30"), json);
        assertTrue(json.contains("\"target\" : \"header\""), json);
    }
}
