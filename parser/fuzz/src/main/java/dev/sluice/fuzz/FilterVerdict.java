package dev.sluice.fuzz;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.servlet.MultipartRequestException;
import org.jspecify.annotations.Nullable;

/**
 * The correct outcomes of a request, given its body and the faults around it.
 *
 * @param decoded the decoder's result, or null if the Content-Type is rejected
 * @param smallSpool whether the spool may be too small for the files
 * @param tooSlow whether the required rate is so high that every client may be too slow
 */
record FilterVerdict(
        FaultPlan faultPlan,
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

    /** {@return whether only the body can make the form fail} */
    boolean isCalm() {
        return !faultPlan.hasSmallBudget()
                && !faultPlan.hasSmallMemory()
                && !smallSpool
                && !tooSlow
                && !disk.hasFailed()
                && !faultPlan.hasFailingSink(options.multipart().preset());
    }

    void requireForm() {
        require(form.isWhole(), "a form was returned that must be rejected: " + form.refusal());
    }

    /** Requires that a call may fail with this exception. {@code ofTexts} means that the call requested parameters. */
    void requireRight(Exception e, boolean ofTexts) {
        if (e instanceof MultipartRequestException refused) {
            requireRight(refused, ofTexts);
        } else if (e instanceof MultipartException reason
                && !ofTexts
                && e != stream.failure()) { // thrown by MultipartRequests
            require(mayBe(reason, false), "rejected without a reason: " + reason);
        } else if (e instanceof BrokenApplication) {
            require(form.refusal() instanceof BrokenApplication, "the application threw although it has no bug");
        } else if (e != stream.failure() || ofTexts) {
            throw new AssertionError("a call failed with an undocumented exception: " + e, e);
        }
    }

    private void requireRight(MultipartRequestException refused, boolean ofTexts) {
        Throwable cause = refused.getCause();
        if (cause != null && cause == stream.failure()) {
            require(
                    ofTexts && refused.httpStatus() == 400 && refused.closesConnection(),
                    "wrong rejection after a failure of the connection");
            return;
        }
        int status = status(cause);
        require(
                refused.httpStatus() == status,
                "status " + refused.httpStatus() + ", expected " + status + ": " + cause);
        require(
                String.valueOf(refused.getMessage())
                        .equals(status == 500 ? NOT_STORED : String.valueOf(cause == null ? null : cause.getMessage())),
                "wrong message: " + refused);
        if (!mayBe(cause, ofTexts)) {
            throw new AssertionError("rejected without a reason, expected " + form.refusal(), refused);
        }
    }

    private boolean mayBe(@Nullable Throwable cause, boolean ofTexts) {
        if (!(cause instanceof MultipartException known)) {
            return mayFailInStore();
        }
        return switch (known.reason()) {
            case MEMORY_FULL -> faultPlan.hasSmallBudget();
            case SPOOL_FULL, DISK_FULL -> smallSpool;
            case CLIENT_TOO_SLOW -> tooSlow;
            case PART_REFUSED ->
                form.refusal() instanceof MultipartException wanted
                        && wanted.httpStatus() == known.httpStatus()
                        && wanted.partIndex() == known.partIndex();
            default ->
                known.reason() == Reason.IN_MEMORY_TOO_LARGE && faultPlan.hasSmallMemory()
                        || ofTexts && form.isWhole() && known.reason() == form.textsRefusal()
                        || isSame(form.refusal(), known);
        };
    }

    private boolean mayFailInStore() {
        return disk.hasFailed() || faultPlan.hasFailingSink(options.multipart().preset());
    }

    /** {@return whether both report the same error in a body} */
    static boolean isSame(@Nullable Exception expected, MultipartException actual) {
        return expected instanceof MultipartException wanted
                && wanted.reason() == actual.reason()
                && wanted.offset() == actual.offset()
                && wanted.partIndex() == actual.partIndex();
    }

    /** {@return the documented status of a reason} */
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

    /** Requires that the filter may send this error, if the exception itself is unknown. */
    void requireRightAnswer(int status, String message) {
        boolean right = switch (status) {
            case 408 -> tooSlow;
            case 500 -> mayFailInStore();
            case 503 -> faultPlan.hasSmallBudget();
            case 507 -> smallSpool;
            case 413 -> faultPlan.hasSmallMemory();
            default -> false;
        };
        Exception refusal = form.refusal();
        right |= refusal != null && !(refusal instanceof BrokenApplication) && status == status(refusal);
        require(right, "status " + status + ", expected " + refusal);
        require(status != 500 || message.equals(NOT_STORED), "the response reveals details: " + message);
    }

    /** {@return whether reading a part directly from the stream may fail with this exception} */
    boolean isRightForReader(Exception e) {
        return e == stream.failure()
                || e instanceof MultipartException slow && slow.reason() == Reason.CLIENT_TOO_SLOW && tooSlow;
    }
}
