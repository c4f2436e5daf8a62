package dev.sluice.fuzz;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.ProofSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs all seeds, and all inputs that ever made a target fail. */
class RegressionTest {
    private static final Path FINDINGS = Path.of("src/test/findings");

    /** The number of mutants for each pair of seeds. If it is 1, every second seed is mutated. */
    private static final int CHANGES = ProofSize.of("sluice.fuzz.changes", 1, 8);

    /** {@code EVERY} has only seeds of the other targets. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EVERY")
    void seeds_pass(Target target) throws Exception {
        Map<String, byte[]> seeds = Seeds.of(target);
        for (byte[] seed : seeds.values()) {
            target.run(seed);
        }
        assertTrue(seeds.size() >= 200, target + " has only " + seeds.size() + " seeds");
    }

    @ParameterizedTest
    @EnumSource
    void findings_pass(Target target) throws Exception {
        for (Path finding : findings(target)) {
            target.run(Files.readAllBytes(finding));
        }
    }

    @ParameterizedTest
    @EnumSource
    void findings_areExplained(Target target) throws IOException {
        String page = Files.readString(FINDINGS.resolve("README.md"));
        for (Path finding : findings(target)) {
            String name = target + "/" + finding.getFileName();
            assertTrue(page.contains("| `" + name + "` |"), name);
        }
    }

    private static List<Path> findings(Target target) throws IOException {
        Path directory = FINDINGS.resolve(target.toString());
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.sorted().toList();
        }
    }

    /** Mutates the seeds with a fixed random sequence instead of the fuzzing engine. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EVERY")
    @Tag("sized")
    void mutatedSeeds_pass(Target target) throws Exception {
        SplittableRandom random = new SplittableRandom(20_261_120L);
        int half = 0;
        for (byte[] seed : Seeds.of(target).values()) {
            for (int i = half++ % 2; i < CHANGES && seed.length > 0; i += 2) {
                byte[] changed = seed.clone();
                for (int count = 1 + random.nextInt(6); count > 0; count--) {
                    changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
                }
                target.run(changed);
            }
        }
    }
}
