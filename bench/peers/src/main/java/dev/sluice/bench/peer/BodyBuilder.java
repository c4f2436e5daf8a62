package dev.sluice.bench.peer;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** A builder of bodies that also computes their expected content. */
final class BodyBuilder {
    private final String boundary;
    private final String lineEnd;
    private final Tally expected = Tally.checking();
    private final List<Slice> pieces = new ArrayList<>();
    private ByteArrayOutputStream piece = new ByteArrayOutputStream();
    private boolean lenient;
    private boolean first = true;
    private @Nullable String name;
    private @Nullable String filename;

    BodyBuilder(String boundary) {
        this(boundary, "\r\n");
    }

    /** @param lineEnd CRLF, or LF for lenient parsers */
    BodyBuilder(String boundary, String lineEnd) {
        this.boundary = boundary;
        this.lineEnd = lineEnd;
        this.lenient = !lineEnd.equals("\r\n");
    }

    BodyBuilder preamble(byte[] junk) {
        lenient = true;
        piece.writeBytes(junk);
        write(lineEnd);
        return this;
    }

    BodyBuilder field(String name, byte[] content) {
        return file(name, null, null, content);
    }

    BodyBuilder file(String name, @Nullable String filename, @Nullable String type, byte[] content) {
        return head(name, filename, type).content(content).account(content);
    }

    /**
     * Adds a file of several blocks, which become pieces of the body. Blocks are not copied: an array that is returned several times is
     * stored once.
     */
    BodyBuilder fileOfBlocks(String name, String filename, int count, IntFunction<byte[]> blocks) {
        head(name, filename, "application/octet-stream");
        endPiece();
        for (int i = 0; i < count; i++) {
            byte[] block = blocks.apply(i);
            pieces.add(new Slice(block, 0, block.length));
            expected.data(block, 0, block.length);
        }
        expected.endPart(name, filename);
        return this;
    }

    BodyBuilder endPiece() {
        if (piece.size() > 0) {
            byte[] bytes = piece.toByteArray();
            pieces.add(new Slice(bytes, 0, bytes.length));
            piece = new ByteArrayOutputStream();
        }
        return this;
    }

    /** Starts a part. Its content, which may span several pieces, is added with {@link #content} and {@link #account}. */
    BodyBuilder head(String name, @Nullable String filename, @Nullable String type) {
        if (!first) {
            write(lineEnd);
        }
        first = false;
        write("--" + boundary + lineEnd + "Content-Disposition: form-data; name=\"" + name + "\"");
        if (filename != null) {
            write("; filename=\"" + filename + "\"");
        }
        write(lineEnd);
        if (type != null) {
            write("Content-Type: " + type + lineEnd);
        }
        write(lineEnd);
        this.name = name;
        this.filename = filename;
        return this;
    }

    BodyBuilder content(byte[] content) {
        piece.writeBytes(content);
        return this;
    }

    /** Adds the content of the current part to the expected content, and ends the part. */
    BodyBuilder account(byte[] content) {
        expected.data(content, 0, content.length);
        expected.endPart(name, filename);
        return this;
    }

    Body end() {
        return end(new byte[0]);
    }

    Body end(byte[] epilogue) {
        if (!first) {
            write(lineEnd);
        }
        write("--" + boundary + "--" + lineEnd);
        if (epilogue.length > 0) {
            lenient = true;
            piece.writeBytes(epilogue);
        }
        endPiece();
        return Body.of("multipart/form-data; boundary=" + boundary, boundary, pieces, expected.asTruth(), lenient);
    }

    private void write(String text) {
        piece.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
