package dev.sluice.form;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/**
 * A spool with predictable file names, for tests in other packages. In production, such names would help an attacker.
 */
public final class PlannedSpool {
    private PlannedSpool() {}

    /** {@return a spool with these names: the first for its directory, the others for its files} */
    public static SpoolDirectory open(Path root, String... names) throws IOException {
        Iterator<String> next = List.of(names).iterator();
        return SpoolDirectory.builder(root).keepFreeBytes(0).names(next::next).open();
    }
}
