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

/** What the parts of a request are for whoever reads them while they come. */
record ReaderOracle(FilterVerdict verdict, DecodedBody decoded) {
    /** Reads some parts: bits 0-2 how many, bit 3 every other one, and these as streams. */
    void read(MultipartReader reader, int how) throws IOException {
        boolean undecoded = (how & 8) == 0;
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
            if (undecoded || (i & 1) == 0) {
                compare(part, content(part, undecoded), undecoded, i);
            }
        }
    }

    /** {@return the content of a part, which is whole} */
    private static byte[] content(MultipartReader.Part part, boolean undecoded) throws IOException {
        if (!undecoded) {
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

    private void compare(MultipartReader.Part part, byte[] content, boolean undecoded, int position) {
        String encoding = undecoded ? "" : encoding(part);
        require(position < decoded.parts().size(), "a part of a refused body is handed out as if it were whole");
        DecodedBody.Part expected = decoded.parts().get(position);
        require(
                expected.name().equals(part.name())
                        && Objects.equals(expected.filename(), part.filename())
                        && expected.index() == part.index(),
                "another part: " + part.name());
        boolean comparable = !encoding.equals("base64") && !encoding.equals("quoted-printable");
        require(!comparable || Arrays.equals(expected.content(), content), "other content of part " + position);
    }

    /** {@return the transfer encoding that is undone, in lower case; empty where none is} */
    private String encoding(MultipartReader.Part part) {
        boolean undone = verdict.options().multipart().preset() == Preset.COMPATIBLE;
        String encoding = undone ? part.head().transferEncoding() : null;
        return encoding == null ? "" : encoding.toLowerCase(Locale.ROOT);
    }

    /** Requires that reading may fail so; {@code destroyed} if the filter has been ended. */
    void requireRight(IOException e, boolean destroyed) {
        if (e instanceof MultipartException malformed && malformed.reason() != Reason.CLIENT_TOO_SLOW) {
            require(
                    FilterVerdict.isSame(decoded.failure(), malformed)
                            || malformed.reason() == Reason.MALFORMED_TRANSFER_ENCODING
                                    && verdict.options().multipart().preset() == Preset.COMPATIBLE,
                    "another refusal: " + e);
        } else {
            require(destroyed || verdict.isRightForReader(e), "reading fails in a way that is not documented: " + e);
        }
    }
}
