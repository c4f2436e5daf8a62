package dev.sluice.header;

import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * An internal exception that rejects the body. {@link MultipartDecoder#next()} converts it to a {@link
 * MultipartException} with the part and the setting. It has no stack trace because it never leaves the decoder.
 */
public final class Rejection extends Exception {
    private static final long serialVersionUID = 1L;

    public final Reason reason;

    /** The offset of the offending byte in the body; if thrown by {@link DispositionParser}, its index in the array. */
    public final long offset;

    /** The message; empty if the message of the reason is sufficient. */
    public final String detail;

    /** The offending byte, for the message. */
    public final @Nullable String seen;

    public Rejection(Reason reason, long offset, String detail, @Nullable String seen) {
        super(detail, null, false, false);
        this.reason = reason;
        this.offset = offset;
        this.detail = detail;
        this.seen = seen;
    }

    public Rejection(Reason reason, long offset, String detail) {
        this(reason, offset, detail, null);
    }
}
