package dev.sluice.s3;

import java.io.IOException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** What came is not what was sent. */
final class ChecksumException extends IOException {
    private static final long serialVersionUID = 1L;

    private ChecksumException(Object sent, Object stored) {
        super("the store has other bytes than were sent: " + stored + ", not " + sent);
    }

    /** @param stored what the store says, or null where it says nothing */
    static void requireSame(Object sent, @Nullable Object stored) {
        if (stored != null && !stored.equals(sent)) {
            throw new CompletionException(new ChecksumException(sent, stored));
        }
    }
}
