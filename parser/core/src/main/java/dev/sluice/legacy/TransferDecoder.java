package dev.sluice.legacy;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** An incremental decoder for the transfer encoding of one part. Not thread-safe. */
public sealed interface TransferDecoder permits Base64Decoder, QuotedPrintableDecoder {
    /**
     * {@return the maximum number of bytes that {@link #decode} writes if it reads {@code encoded} bytes; for 0, the maximum that
     * {@link #end} writes}
     */
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
     * Ends the content and writes its last bytes.
     *
     * @return the number of bytes written, from index 0
     * @throws IOException if bytes are missing
     */
    int end(byte[] to) throws IOException;
}
