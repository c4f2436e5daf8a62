package dev.sluice.bench.peer;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The content of a body as totals, which do not depend on the order in which parts are reported.
 *
 * @param bytes the total size of the parts' content
 * @param checksum the sum of the CRC-32 of each part's content
 * @param nameChars the total length of names and file names
 * @param names the sum of {@link #crcOf(String, String, long)} of all parts
 */
public record Truth(long parts, long bytes, long checksum, long nameChars, long names) {
    /** The content of a body without parts. */
    public static final Truth NOTHING = new Truth(0, 0, 0, 0, 0);

    /**
     * Returns the CRC-32 of a part's name, file name and content together, so that swapped names are detected.
     *
     * @param content the CRC-32 of the content
     */
    static long crcOf(@Nullable String name, @Nullable String filename, long content) {
        // Bytes that cannot occur in UTF-8 mark an absent name and the end of a name.
        CRC32 crc = new CRC32();
        for (String text : new String[] {name, filename}) {
            if (text != null) {
                crc.update(text.getBytes(StandardCharsets.UTF_8));
            }
            crc.update(text == null ? 0xfe : 0xff);
        }
        crc.update(Long.toString(content).getBytes(StandardCharsets.US_ASCII));
        return crc.getValue();
    }
}
