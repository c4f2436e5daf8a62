package dev.sluice.transfer;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Undoes the transfer encoding of one part, as its bytes come. One per part; not thread-safe. */
public sealed interface TransferDecoder permits Base64Decoder, QuotedPrintableDecoder {
    /**
     * {@return a decoder for a {@code Content-Transfer-Encoding}; null for those that leave bytes as they are, for unknown ones,
     * and where there is none}
     *
     * @param refusal makes an error of what the bytes are instead
     */
    static @Nullable TransferDecoder of(@Nullable String encoding, Function<String, IOException> refusal) {
        return switch (encoding == null ? "" : encoding.toLowerCase(Locale.ROOT)) {
            case "base64" -> new Base64Decoder(refusal);
            case "quoted-printable" -> new QuotedPrintableDecoder();
            default -> null;
        };
    }

    /** {@return the most bytes that so many encoded ones, or the end, become} */
    static int mostFrom(int encoded) {
        return encoded + 3;
    }

    /**
     * Decodes all bytes of the buffer, which is <em>borrowed</em>. {@return how many were written, from index 0 on}
     *
     * @param to {@link #mostFrom} bytes are enough
     * @throws IOException the refusal, if the bytes cannot be decoded; the decoder is of no use afterwards
     */
    int decode(ByteBuf encoded, byte[] to) throws IOException;

    /** Writes what was held back, once no bytes are left. {@return as {@link #decode}; the refusal, if bytes are missing} */
    int end(byte[] to) throws IOException;
}
