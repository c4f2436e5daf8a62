package dev.sluice.bench.endtoend;

import dev.sluice.bench.body.Truth;

/**
 * What a measured server answers to a body, as JSON.
 *
 * @param parts found; 0 where nothing decodes
 * @param bytes of all part bodies, or of the whole body where nothing decodes
 * @param checksum as in {@link Truth}; 0 unless asked for
 * @param nameChars as in {@link Truth}
 * @param names as in {@link Truth}; 0 unless asked for
 */
public record Counted(long parts, long bytes, long checksum, long nameChars, long names) {

    public static Counted of(Truth found) {
        return new Counted(found.parts(), found.bytes(), found.checksum(), found.nameChars(), found.names());
    }
}
