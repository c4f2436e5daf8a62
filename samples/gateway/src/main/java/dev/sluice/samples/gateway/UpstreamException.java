package dev.sluice.samples.gateway;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A failure of the request to the upstream server. */
final class UpstreamException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The response of the upstream, if it answered before it had received the whole form. */
    final transient UpstreamRequest.@Nullable Answer answer;

    UpstreamException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.answer = null;
    }

    /** Creates the failure of a request that was answered too early, even with a success: the form was not complete. */
    UpstreamException(UpstreamRequest.Answer early) {
        super("the upstream answered before it had the whole form");
        this.answer = early.status() < 400 ? null : early;
    }
}
