package dev.sluice.header;

import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.legacy.TransferDecoder;
import org.jspecify.annotations.Nullable;

/** The transfer encoding of the content of a part. */
public final class TransferEncoding {
    private TransferEncoding() {}

    /** {@return a decoder for the content of a part; null if its transfer encoding is unknown or does not change bytes} */
    public static @Nullable TransferDecoder decoder(PartHead head) {
        return TransferDecoder.of(
                head.transferEncoding(),
                problem -> head.because(Reason.MALFORMED_TRANSFER_ENCODING)
                        .saying("the body of a part " + problem)
                        .build());
    }

    /**
     * {@return the offset in the multipart body of a byte of a part's content} If the content may have been decoded, the position of the
     * byte is not known, and the result is the offset at which the content starts.
     *
     * @param index the index of the byte in the content
     */
    public static long offset(PartHead head, long index) {
        return head.offset() + (decoder(head) == null ? index : 0);
    }
}
