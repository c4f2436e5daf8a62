package dev.sluice.bench.peer;

import dev.sluice.bench.body.Truth;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Counts what a parser delivers. In the counting mode, which is timed, content is not looked at; in the checking mode its
 * checksum is made. One class for both, so that the timed calls stay monomorphic. One thread.
 */
public final class Tally {

    private final @Nullable CRC32 crc;
    private final byte[] drain = new byte[8 * 1024];
    private long parts;
    private long octets;
    private long checksum;
    private long nameChars;

    private Tally(@Nullable CRC32 crc) {
        this.crc = crc;
    }

    public static Tally counting() {
        return new Tally(null);
    }

    public static Tally checking() {
        return new Tally(new CRC32());
    }

    public void reset() {
        parts = 0;
        octets = 0;
        checksum = 0;
        nameChars = 0;
    }

    /** Whether the content itself must be shown through {@link #check}. */
    public boolean checks() {
        return crc != null;
    }

    /** Octets of the present part that were delivered but need not be looked at. */
    public void count(long delivered) {
        octets += delivered;
    }

    /** Octets of the present part, with the position moved to the limit when they are looked at. */
    public void data(ByteBuffer content) {
        octets += content.remaining();
        if (crc != null) {
            crc.update(content);
        }
    }

    public void data(byte[] array, int offset, int length) {
        octets += length;
        if (crc != null) {
            crc.update(array, offset, length);
        }
    }

    /** Reads a part's stream to its end into one array that is used again and again. */
    public void drain(InputStream in) throws IOException {
        for (int n; (n = in.read(drain, 0, drain.length)) >= 0; ) {
            data(drain, 0, n);
        }
    }

    /** The present part has ended; the parser does not know names. */
    public void endPart() {
        parts++;
        if (crc != null) {
            checksum += crc.getValue();
            crc.reset();
        }
    }

    /** The present part has ended. */
    public void endPart(@Nullable String name, @Nullable String filename) {
        endPart();
        if (name != null) {
            nameChars += name.length();
        }
        if (filename != null) {
            nameChars += filename.length();
        }
    }

    public long octets() {
        return octets;
    }

    /**
     * What was counted. Without names from the parser their length is taken from the truth; without the checking mode the
     * checksum too.
     */
    public Truth asTruth(Truth truth) {
        return new Truth(
                parts,
                octets,
                crc == null ? truth.checksum() : checksum,
                nameChars == 0 ? truth.nameChars() : nameChars);
    }
}
