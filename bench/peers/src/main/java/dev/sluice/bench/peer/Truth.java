package dev.sluice.bench.peer;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * What a decoder must find in a body: parts, the bytes of their bodies, the sum of the CRC-32 of each, so that the order in which
 * parts are told does not matter, the characters of all names and file names, and the sum of {@link #crcOf(String, String, long)}.
 */
public record Truth(long parts, long bytes, long checksum, long nameChars, long names) {
    /** Nothing at all. */
    public static final Truth NOTHING = new Truth(0, 0, 0, 0, 0);

    /**
     * The CRC-32 of a part's name and file name with that of its content, so that it tells also what belongs together.
     *
     * @param content the CRC-32 of the content
     */
    static long crcOf(@Nullable String name, @Nullable String filename, long content) {
        // A byte that UTF-8 does not have stands for what is absent and between the two.
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
