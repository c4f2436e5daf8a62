package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.LeakCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Base class of tests with a spool and a budget, which must be empty after each test. */
@ExtendWith(LeakCheck.class)
public abstract class SpooledTest {
    @TempDir
    protected Path root;

    protected final MemoryBudget budget;
    protected SpoolDirectory spool;
    private final long spoolBytes;

    SpooledTest() {
        this(16 << 20, 16 << 20);
    }

    protected SpooledTest(long budgetBytes, long spoolBytes) {
        this.budget = MemoryBudget.of(budgetBytes);
        this.spoolBytes = spoolBytes;
    }

    @BeforeEach
    void openSpool() throws IOException {
        spool = SpoolDirectory.builder(root.resolve("spool"))
                .keepFreeBytes(0)
                .maxSpoolBytes(spoolBytes)
                .open();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        Upload.assertNothingIsLeft(spool, budget, "after the test");
        spool.close();
        assertEquals(List.of(), Upload.list(root.resolve("spool")));
    }
}
