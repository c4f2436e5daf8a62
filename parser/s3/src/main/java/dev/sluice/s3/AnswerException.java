package dev.sluice.s3;

import java.io.IOException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** An answer of the store that proves nothing, because it is incomplete, or that proves that the store has other bytes. */
final class AnswerException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Whether the store has other bytes. */
    final boolean isMismatch;

    private AnswerException(String message, boolean isMismatch) {
        super(message);
        this.isMismatch = isMismatch;
    }

    /** {@return an exception for an answer that leaves something open, so that the request is repeated} */
    static AnswerException incomplete(String message) {
        return new AnswerException(message, false);
    }

    static AnswerException mismatch(Object sent, Object stored) {
        return new AnswerException("the store has other bytes than were sent: " + stored + ", not " + sent, true);
    }

    /** Throws if the store names another value than {@code sent}; {@code stored} is null if it names none. */
    static void requireSame(Object sent, @Nullable Object stored) {
        if (stored != null && !stored.equals(sent)) {
            throw new CompletionException(mismatch(sent, stored));
        }
    }

    /** {@return {@code value}; throws if the answer lacks it} */
    static <T> T required(String what, @Nullable T value) {
        if (value == null || value.equals("")) {
            throw new CompletionException(new AnswerException("the answer of the object store lacks " + what, false));
        }
        return value;
    }
}
