package dev.sluice.legacy;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An incremental decoder for the transfer encoding of one part. Not thread-safe. */
public sealed interface TransferDecoder permits Base64Decoder, QuotedPrintableDecoder {
    /** The maximum number of decoded bytes in addition to the number of encoded ones, because an earlier call has kept some. */
    int MAX_KEPT = 3;

    /**
     * {@return a decoder for a {@code Content-Transfer-Encoding} (RFC 2045 section 6); null if it is unknown or does not change bytes}
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

    /**
     * {@return the decoded bytes, in a new array}
     *
     * <p>Bytes before a malformed one are decoded first, so that the result does not depend on how the content was split: the malformed
     * byte remains in {@code encoded}, and the next call throws.
     *
     * @param encoded the next bytes of the content, <em>borrowed</em>, which are read to their end or up to a malformed byte
     * @throws IOException if a byte is malformed and no bytes before it can be decoded; the decoder cannot be used afterwards
     */
    ByteBuf decode(ByteBuf encoded) throws IOException;

    /**
     * {@return the last decoded bytes, which earlier calls have kept}
     *
     * @throws IOException if the content is incomplete
     */
    ByteBuf end() throws IOException;
}
