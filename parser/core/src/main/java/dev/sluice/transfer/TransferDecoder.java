package dev.sluice.transfer;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An incremental decoder for the transfer encoding of one part. Not thread-safe. */
public sealed interface TransferDecoder permits Base64Decoder, QuotedPrintableDecoder {
    /**
     * {@return a decoder for a {@code Content-Transfer-Encoding}; null if there is none, it is unknown, or it does not change bytes}
     *
     * @param error creates the exception for malformed bytes from a description of the problem
     */
    static @Nullable TransferDecoder of(@Nullable String encoding, Function<String, IOException> error) {
        return switch (encoding == null ? "" : encoding.toLowerCase(Locale.ROOT)) {
            case "base64" -> new Base64Decoder(error);
            case "quoted-printable" -> new QuotedPrintableDecoder();
            default -> null;
        };
    }

    /** {@return the maximum number of bytes decoded from {@code encoded} bytes or at the end} */
    static int maxDecoded(int encoded) {
        return encoded + 3;
    }

    /**
     * Decodes all bytes of the buffer, which is <em>borrowed</em>.
     *
     * @param to receives the bytes; {@link #maxDecoded} is a sufficient length
     * @return the number of bytes written, from index 0
     * @throws IOException if the bytes are malformed; the decoder cannot be used afterwards
     */
    int decode(ByteBuf encoded, byte[] to) throws IOException;

    /**
     * Writes the last bytes, at the end of the part.
     *
     * @return the number of bytes written, from index 0
     * @throws IOException if bytes are missing
     */
    int end(byte[] to) throws IOException;
}
