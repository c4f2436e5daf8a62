package dev.sluice.servlet.container;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.OpenFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The spool and the memory budget of a test, with checks for leftovers. */
final class Store implements AutoCloseable {
    private final Path root;
    private final SpoolDirectory spool;
    private final MemoryBudget memory = MemoryBudget.of(64 << 20);
    private final long descriptors;

    Store(Path root) throws IOException {
        this.root = root.toRealPath();
        this.spool = SpoolDirectory.builder(this.root).keepFreeBytes(0).open();
        this.descriptors = descriptors();
    }

    FormOptions.Builder options() {
        return FormOptions.builder(spool, memory);
    }

    SpoolDirectory spool() {
        return spool;
    }

    MemoryBudget memory() {
        return memory;
    }

    /** Waits until no file, memory charge or open descriptor is left. Does not run the garbage collector. */
    void assertEmpty(Object after) {
        Eventually.isTrue(this::isEmpty, () -> "after " + after + ": " + this);
    }

    private boolean isEmpty() {
        return spool.files() == 0
                && spool.bytes() == 0
                && memory.used() == 0
                && names().isEmpty()
                && descriptors() == descriptors;
    }

    private List<String> names() {
        try (Stream<Path> files = Files.list(spool.path())) {
            return files.map(file -> file.getFileName().toString()).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@return the number of open descriptors of files below the root, including deleted files} */
    private long descriptors() {
        return OpenFiles.below(root).size();
    }

    @Override
    public String toString() {
        return spool.files() + " files " + names() + " of " + spool.bytes() + " bytes, " + memory.used()
                + " bytes of memory, " + (descriptors() - descriptors) + " descriptors";
    }

    @Override
    public void close() throws IOException {
        spool.close();
    }
}
