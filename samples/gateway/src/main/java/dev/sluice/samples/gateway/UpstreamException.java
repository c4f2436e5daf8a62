package dev.sluice.samples.gateway;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A failure of the request to the upstream server. */
final class UpstreamException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The error response of the upstream, if it sent one before it had received the whole form. */
    final transient UpstreamRequest.@Nullable Response response;

    UpstreamException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.response = null;
    }

    /** Creates the failure of a request whose response came before the end of the form. A report of success is a failure, too. */
    UpstreamException(UpstreamRequest.Response early) {
        super("the upstream responded before it had the whole form");
        this.response = early.status() < 400 ? null : early;
    }
}
