package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.ProofSize;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

/** Uploads during which processes of the store are killed. */
@ExtendWith(Weed.IsThere.class)
@Isolated("kills processes of the store that all tests share")
class StoreKillTest {
    private static final int MIB = 1 << 20;

    @Tag("sized")
    @TestFactory
    Stream<DynamicTest> form_outlivesAProcessOfTheStore() {
        return Stream.of("volume1", "filer", "s3", "volume2", "volume3")
                .limit(ProofSize.of("sluice.store.kills", 3, 5))
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Weed weed = Weed.running();
                    try (Bench bench = new Bench(
                            store -> store.attempts(12).pauseMillis(100).attemptTimeout(Duration.ofSeconds(20)),
                            sinks -> sinks)) {
                        List<File> files = List.of(new File("a", 24 * MIB), new File("b", 10));
                        S3Form form = bench.sinks.newForm();
                        Uploads.Sending sending = bench.send(form, files);
                        Weed.await(() -> assertTrue(bench.count(".*partNumber.*") >= 2));
                        weed.kill(name);
                        weed.start(name);
                        sending.form().get().close();
                        bench.assertStored(form, files);
                        bench.assertNothingLeftBut(form);
                    }
                }));
    }
}
