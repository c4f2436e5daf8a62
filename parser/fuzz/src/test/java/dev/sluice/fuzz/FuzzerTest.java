package dev.sluice.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.ProofSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run of the engine, and the record of executions. */
@Tag("sized")
class FuzzerTest {
    private static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    /** A fixed seed, because a random failure would not be caused by the change under test. {@code .ci/fuzz} finds new failures. */
    private static final int SEED = 20_261_123;

    /** Fewer edges than the seeds reach, but more than they reach if only some packages of the library are instrumented. */
    private static final long EDGES = 4_500;

    @TempDir
    Path directory;

    /** Learns from comparisons, or with {@code -Pfull} from edges alone. */
    @Test
    void shortRun_findsNothing() throws Exception {
        boolean comparisons = !Boolean.getBoolean("sluice.full");
        Fuzzer fuzzer = new Fuzzer(Target.EVERY, directory, CLASS_PATH);
        Fuzzer.Run run = fuzzer.run(60, ProofSize.of("sluice.fuzz.executions", 2_500, 20_000), comparisons, SEED);
        assertFalse(run.found(), run.output());
        assertTrue(run.executions() > Seeds.of(Target.EVERY).size(), run.output());
        assertTrue(run.coverage() > EDGES, run.output());
    }

    @Test
    void executions_sameDay_areAdded() throws IOException {
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
