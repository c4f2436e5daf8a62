package dev.sluice;

import dev.sluice.MultipartException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Why a body is refused, on its way to {@link MultipartDecoder#next()}, which knows the part and says it to the caller: so this has no
 * stack trace.
 */
final class Refusal extends Exception {
    private static final long serialVersionUID = 1L;

    final Reason reason;

    /** Of the offending byte in the body; of the {@link DispositionParser}, its index in what was read. */
    final long offset;

    /** Empty where the reason says it all. */
    final String detail;

    /** What was there instead. */
    final @Nullable String seen;

    Refusal(Reason reason, long offset, String detail, @Nullable String seen) {
        super(detail, null, false, false);
        this.reason = reason;
        this.offset = offset;
        this.detail = detail;
        this.seen = seen;
    }

    Refusal(Reason reason, long offset, String detail) {
        this(reason, offset, detail, null);
    }
}
