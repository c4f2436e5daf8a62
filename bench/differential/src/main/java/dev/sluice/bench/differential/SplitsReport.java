package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * What a comparison of two-chunk splits found.
 *
 * @param bodies of the corpus that were split, of so many {@code bytes}
 * @param skipped bodies of the corpus that were not: no boundary, or too large for a quick run
 */
record SplitsReport(@JsonUnwrapped Provenance provenance, long bodies, long bytes, long skipped, List<Row> readers) {
    /** What a reader made of them: how many splits, whose outcome is another than the whole body's, and in how many bodies. */
    record Row(String reader, long splits, long wrong, long wrongBodies, List<Kind> kinds) {}

    /** One way to be wrong, and a body that shows it, split before the byte {@code cut}, with the bytes around that. */
    record Kind(String title, long splits, String body, int cut, String around) {}
}
