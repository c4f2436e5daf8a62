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
 * The parts that a parser finds, in one of three modes:
 *
 * <ul>
 *   <li>counting, which is timed: counts parts and bytes without reading content
 *   <li>checking: also computes checksums of content and names
 *   <li>recording: also keeps the parts
 * </ul>
 *
 * <p>One class implements all modes so that calls stay monomorphic when they are timed. Not thread-safe.
 */
public final class Tally {
    private static final int DRAIN = 8 * 1024;

    /** A part as reported by a parser. Names are null if the parser did not report them. */
    public record Part(@Nullable String name, @Nullable String filename, byte[] content) {
        public boolean same(Part other) {
            return Objects.equals(name, other.name)
                    && Objects.equals(filename, other.filename)
                    && Arrays.equals(content, other.content);
        }
    }

    private final @Nullable CRC32 crc;
    /** The content of the current part; null except in recording mode. */
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

    /** Returns the parts in recording mode, in the order in which they ended. */
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

    /** Returns whether content must be passed to {@link #data}, because {@link #count} is not sufficient. */
    public boolean checks() {
        return crc != null;
    }

    /** Returns whether parts are kept. If a parser does not read names, its peer reads them in this mode only. */
    public boolean records() {
        return content != null;
    }

    /** Counts bytes of the current part without reading them. */
    public void count(long delivered) {
        bytes += delivered;
    }

    /** Adds bytes of the current part. If they are read, the position of the buffer moves to its limit. */
    public void data(ByteBuffer piece) {
        bytes += piece.remaining();
        if (crc != null) {
            check(piece, crc);
        }
    }

    /** Adds bytes of the current part. */
    public void data(byte[] array, int offset, int length) {
        bytes += length;
        if (crc != null) {
            check(ByteBuffer.wrap(array, offset, length), crc);
        }
    }

    private void check(ByteBuffer piece, CRC32 sum) {
        if (content != null) {
            byte[] copy = new byte[piece.remaining()];
            piece.duplicate().get(copy);
            content.writeBytes(copy);
        }
        sum.update(piece);
    }

    /** Reads the stream of the current part to its end. */
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

    public void endPart() {
        endPart(null, null);
    }

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

    /** Returns the totals. Checksums are 0 in counting mode. */
    public Truth asTruth() {
        return new Truth(parts, bytes, checksum, nameChars, names);
    }
}
