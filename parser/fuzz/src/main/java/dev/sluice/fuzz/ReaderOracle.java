package dev.sluice.fuzz;

import static dev.sluice.fuzz.FilterVerdict.require;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;

/** The expected results of reading the parts of a request one by one. */
record ReaderOracle(FilterVerdict verdict, DecodedBody decoded) {
    /**
     * Compares the parts. Bits 0-2 of {@code how} are the number of parts minus 1. If bit 3 is set, every second part is read, as a stream.
     */
    void read(MultipartReader reader, int how) throws IOException {
        boolean raw = (how & 8) == 0;
        for (int i = 0; i <= (how & 7); i++) {
            MultipartReader.Part part = reader.nextPart();
            if (part == null) {
                require(
                        decoded.failure() == null
                                && i == decoded.parts().size()
                                && verdict.stream().hasEnded(),
                        "the reader ends after " + i + " parts");
                return;
            }
            if (raw || (i & 1) == 0) {
                compare(part, content(part, raw), raw, i);
            }
        }
    }

    private static byte[] content(MultipartReader.Part part, boolean raw) throws IOException {
        if (!raw) {
            try (InputStream in = part.inputStream()) {
                return in.readAllBytes();
            }
        }
        Bytes content = new Bytes(64);
        for (ByteBuf data; (data = part.nextData()) != null; ) {
            content.add(data);
        }
        return content.toByteArray();
    }

    private void compare(MultipartReader.Part part, byte[] content, boolean raw, int position) {
        String encoding = raw ? "" : encoding(part);
        require(position < decoded.parts().size(), "a part of a rejected body was returned as complete");
        DecodedBody.Part expected = decoded.parts().get(position);
        require(
                expected.name().equals(part.name())
                        && Objects.equals(expected.filename(), part.filename())
                        && expected.index() == part.index(),
                "wrong part: " + part.name());
        boolean comparable = !encoding.equals("base64") && !encoding.equals("quoted-printable");
        require(!comparable || Arrays.equals(expected.content(), content), "wrong content of part " + position);
    }

    /** {@return the transfer encoding that is decoded, in lower case; empty if none} */
    private String encoding(MultipartReader.Part part) {
        boolean undone = verdict.options().multipart().preset() == Preset.COMPATIBLE;
        String encoding = undone ? part.head().transferEncoding() : null;
        return encoding == null ? "" : encoding.toLowerCase(Locale.ROOT);
    }

    /** Requires that reading may fail with this exception. */
    void requireRight(IOException e) {
        if (e instanceof MultipartException malformed && malformed.reason() != Reason.CLIENT_TOO_SLOW) {
            require(
                    FilterVerdict.isSame(decoded.failure(), malformed)
                            || malformed.reason() == Reason.MALFORMED_TRANSFER_ENCODING
                                    && verdict.options().multipart().preset() == Preset.COMPATIBLE,
                    "wrong rejection: " + e);
        } else {
            require(verdict.isRightForReader(e), "reading failed with an undocumented exception: " + e);
        }
    }
}
