package dev.sluice.form;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/** A spool whose names are known beforehand, as an attacker wishes them to be; for tests of other packages. */
public final class PlannedSpool {
    private PlannedSpool() {}

    /** {@return a spool that takes these names, one for itself and one for each file} */
    public static SpoolDirectory open(Path root, String... names) throws IOException {
        Iterator<String> next = List.of(names).iterator();
        return SpoolDirectory.builder(root).keepFreeBytes(0).names(next::next).open();
    }
}
