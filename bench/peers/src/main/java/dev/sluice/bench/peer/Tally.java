package dev.sluice.bench.peer;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Counts what a parser delivers. In the counting mode, which is timed, content is not looked at; in the checking mode
 * checksums of it and of the names are made; in the recording mode the parts are kept as well. One class for all, so that the
 * timed calls stay monomorphic. One thread.
 */
public final class Tally {
    private static final int DRAIN = 8 * 1024;

    /** A part as a parser told it, without names where it told none; the content is owned by the record. */
    public record Part(@Nullable String name, @Nullable String filename, byte[] content) {
        public boolean same(Part other) {
            return Objects.equals(name, other.name)
                    && Objects.equals(filename, other.filename)
                    && Arrays.equals(content, other.content);
        }
    }

    private final @Nullable CRC32 crc;
    /** In the recording mode only; the checking mode goes with it. */
    private final @Nullable ByteArrayOutputStream content;

    private final List<Part> recorded = new ArrayList<>();
    private byte @Nullable [] drain;
    private long parts;
    private long bytes;
    private long checksum;
    private long nameChars;
    private long names;

    private Tally(@Nullable CRC32 crc, @Nullable ByteArrayOutputStream content) {
        this.crc = crc;
        this.content = content;
    }

    public static Tally counting() {
        return new Tally(null, null);
    }

    public static Tally checking() {
        return new Tally(new CRC32(), null);
    }

    public static Tally recording() {
        return new Tally(new CRC32(), new ByteArrayOutputStream());
    }

    /** The parts told so far in the recording mode, in the order of their ends. */
    public List<Part> parts() {
        return List.copyOf(recorded);
    }

    public void reset() {
        parts = 0;
        bytes = 0;
        checksum = 0;
        nameChars = 0;
        names = 0;
    }

    /** Whether the content itself must be shown through {@link #check}. */
    public boolean checks() {
        return crc != null;
    }

    /** Whether parts are kept; only then a parser that leaves the names to its caller is asked for them. */
    public boolean records() {
        return content != null;
    }

    /** Bytes of the present part that were delivered but need not be looked at. */
    public void count(long delivered) {
        bytes += delivered;
    }

    /** Bytes of the present part, with the position moved to the limit when they are looked at. */
    public void data(ByteBuffer piece) {
        bytes += piece.remaining();
        if (crc != null) {
            look(piece, crc);
        }
    }

    public void data(byte[] array, int offset, int length) {
        bytes += length;
        if (crc != null) {
            look(ByteBuffer.wrap(array, offset, length), crc);
        }
    }

    private void look(ByteBuffer piece, CRC32 sum) {
        if (content != null) {
            byte[] copy = new byte[piece.remaining()];
            piece.duplicate().get(copy);
            content.writeBytes(copy);
        }
        sum.update(piece);
    }

    /** Reads a part's stream to its end into one array that is used again and again. */
    public void drain(InputStream in) throws IOException {
        byte[] target = drain;
        if (target == null) {
            target = new byte[DRAIN];
            drain = target;
        }
        for (int n; (n = in.read(target, 0, target.length)) >= 0; ) {
            data(target, 0, n);
        }
    }

    /** The present part has ended; the parser does not know names. */
    public void endPart() {
        endPart(null, null);
    }

    /** The present part has ended. */
    public void endPart(@Nullable String name, @Nullable String filename) {
        parts++;
        if (crc != null) {
            checksum += crc.getValue();
            names += Truth.crcOf(name, filename, crc.getValue());
            crc.reset();
        }
        if (content != null) {
            recorded.add(new Part(name, filename, content.toByteArray()));
            content.reset();
        }
        if (name != null) {
            nameChars += name.length();
        }
        if (filename != null) {
            nameChars += filename.length();
        }
    }

    public long bytes() {
        return bytes;
    }

    /** What was told, the sums only in the checking mode; 0 otherwise. */
    public Truth asTruth() {
        return new Truth(parts, bytes, checksum, nameChars, names);
    }
}
