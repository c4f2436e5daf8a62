package dev.sluice.fuzz;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.servlet.MultipartRequestException;
import org.jspecify.annotations.Nullable;

/**
 * Which ends of a request are right, by what its body is and by what goes wrong around it.
 *
 * @param decoded the body as the decoder has it, or null where the Content-Type is refused
 * @param smallSpool whether files may find no room
 * @param tooSlow whether every client may be
 */
record FilterVerdict(
        Mishaps mishaps,
        Disk disk,
        FormOptions options,
        ExpectedForm form,
        @Nullable DecodedBody decoded,
        BareStream stream,
        boolean smallSpool,
        boolean tooSlow) {
    private static final String NOT_STORED = "the form could not be stored";

    static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    boolean hasDiskFailed() {
        return disk.hasFailed();
    }

    /** {@return whether nothing but the body can be what the form fails of} */
    boolean isCalm() {
        return !mishaps.hasSmallBudget()
                && !mishaps.hasSmallMemory()
                && !smallSpool
                && !tooSlow
                && !disk.hasFailed()
                && !mishaps.hasFailingSink(options.multipart().preset());
    }

    // ---- the form

    void requireForm() {
        require(form.isWhole(), "a form is handed out that is to be refused: " + form.refusal());
    }

    /** Requires that a call for the form may fail so; {@code ofTexts} if it asked for parameters. */
    void requireRight(Exception e, boolean ofTexts) {
        if (e instanceof MultipartRequestException refused) {
            requireRight(refused, ofTexts);
        } else if (e instanceof BrokenApplication) {
            require(form.refusal() instanceof BrokenApplication, "no bug was asked for");
        } else if (e != stream.failure() || ofTexts) {
            throw new AssertionError("a call for the form fails in a way that is not documented: " + e, e);
        }
    }

    private void requireRight(MultipartRequestException refused, boolean ofTexts) {
        Throwable cause = refused.getCause();
        if (cause != null && cause == stream.failure()) {
            require(ofTexts && refused.httpStatus() == 400 && refused.closesConnection(), "wrong of the connection");
            return;
        }
        int status = status(cause);
        require(refused.httpStatus() == status, refused.httpStatus() + " is answered, not " + status + ": " + cause);
        require(
                String.valueOf(refused.getMessage())
                        .equals(status == 500 ? NOT_STORED : String.valueOf(cause == null ? null : cause.getMessage())),
                "wrong message: " + refused);
        if (!mayBe(cause, ofTexts)) {
            throw new AssertionError("refused without a reason, expected " + form.refusal(), refused);
        }
    }

    private boolean mayBe(@Nullable Throwable cause, boolean ofTexts) {
        if (!(cause instanceof MultipartException known)) {
            return mayFailInStore();
        }
        return switch (known.reason()) {
            case MEMORY_FULL -> mishaps.hasSmallBudget();
            case SPOOL_FULL, DISK_FULL -> smallSpool;
            case CLIENT_TOO_SLOW -> tooSlow;
            case PART_REFUSED ->
                form.refusal() instanceof MultipartException wanted
                        && wanted.httpStatus() == known.httpStatus()
                        && wanted.partIndex() == known.partIndex();
            default ->
                known.reason() == Reason.IN_MEMORY_TOO_LARGE && mishaps.hasSmallMemory()
                        || ofTexts && form.isWhole() && known.reason() == form.textsRefusal()
                        || isSame(form.refusal(), known);
        };
    }

    private boolean mayFailInStore() {
        return disk.hasFailed() || mishaps.hasFailingSink(options.multipart().preset());
    }

    /** {@return whether both say the same of a body} */
    static boolean isSame(@Nullable Exception expected, MultipartException actual) {
        return expected instanceof MultipartException wanted
                && wanted.reason() == actual.reason()
                && wanted.offset() == actual.offset()
                && wanted.partIndex() == actual.partIndex();
    }

    /** {@return the status that the documentation has for a reason} */
    private static int status(@Nullable Throwable cause) {
        if (!(cause instanceof MultipartException known)) {
            return 500;
        }
        return switch (known.reason()) {
            case UNSUPPORTED_MEDIA_TYPE, UNKNOWN_CHARSET -> 415;
            case MEMORY_FULL -> 503;
            case SPOOL_FULL, TOO_MANY_SPOOL_FILES, DISK_FULL -> 507;
            case CLIENT_TOO_SLOW -> 408;
            case PART_REFUSED -> known.httpStatus();
            default -> known.kind() == Kind.LIMIT_EXCEEDED ? 413 : 400;
        };
    }

    /** Requires that the form of a request may be refused so, of which the exception has not been seen. */
    void requireRightAnswer(int status, String message) {
        boolean right = switch (status) {
            case 408 -> tooSlow;
            case 500 -> mayFailInStore();
            case 503 -> mishaps.hasSmallBudget();
            case 507 -> smallSpool;
            case 413 -> mishaps.hasSmallMemory();
            default -> false;
        };
        Exception refusal = form.refusal();
        right |= refusal != null && !(refusal instanceof BrokenApplication) && status == status(refusal);
        require(right, status + " is answered, expected " + refusal);
        require(status != 500 || message.equals(NOT_STORED), "the answer says too much: " + message);
    }

    /** {@return whether reading a part from a stream that is not stored may fail so} */
    boolean isRightForReader(Exception e) {
        return e == stream.failure()
                || e instanceof MultipartException slow && slow.reason() == Reason.CLIENT_TOO_SLOW && tooSlow;
    }
}
