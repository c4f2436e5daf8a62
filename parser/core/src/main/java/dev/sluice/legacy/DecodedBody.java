package dev.sluice.legacy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The body of a part after transfer decoding. Each step decodes a limited number of bytes. Not thread-safe. */
public final class DecodedBody {
    /** The maximum number of encoded bytes that are decoded in one step. */
    private static final int MAX_STEP = 8 * 1024;

    /** The body before transfer decoding. */
    public interface Encoded {
        /** {@return at least one byte, <em>borrowed</em> until the next call, or null at the end} */
        @Nullable
        ByteBuf next() throws IOException;
    }

    private final TransferDecoder decoder;
    private final Encoded encoded;

    /** Decoded bytes that have not been read yet. */
    private final ByteBuf decoded = Unpooled.wrappedBuffer(new byte[TransferDecoder.maxDecoded(MAX_STEP)])
            .clear();

    private boolean ended;
    private @Nullable IOException malformed;

    public DecodedBody(TransferDecoder decoder, Encoded encoded) {
        this.decoder = decoder;
        this.encoded = encoded;
    }

    /** {@return the bytes that can be read without waiting} */
    public ByteBuf available() {
        return decoded;
    }

    /** {@return at least one byte, or null at the end} After malformed bytes, each call throws the same exception. */
    public @Nullable ByteBuf next() throws IOException {
        while (!decoded.isReadable() && !ended && malformed == null) {
            ByteBuf bytes = encoded.next();
            int count = bytes == null ? 0 : Math.min(bytes.readableBytes(), MAX_STEP);
            byte[] memory = decoded.clear().array();
            try {
                int size = bytes == null ? decoder.end(memory) : decoder.decode(bytes.readSlice(count), memory);
                decoded.writerIndex(size);
            } catch (IOException e) {
                malformed = e;
            }
            ended = bytes == null;
        }
        if (malformed != null) {
            throw malformed;
        }
        return decoded.isReadable() ? decoded : null;
    }
}
