package dev.sluice.form;

import org.jspecify.annotations.Nullable;

/**
 * What the head of a request says of its body.
 *
 * @param contentType the {@code Content-Type}, or null
 * @param contentLength the {@code Content-Length} in bytes, or -1 if it is unknown: for progress and early refusals, never
 *     a bound
 * @param expectsContinue whether the client waits for leave to send ({@code Expect: 100-continue}): a refusal then costs
 *     no body
 */
public record FormHead(@Nullable String contentType, long contentLength, boolean expectsContinue) {
    public FormHead {
        contentLength = Math.max(contentLength, -1);
    }

    /** {@return a head with nothing but a {@code Content-Type}} */
    public static FormHead of(@Nullable String contentType) {
        return new FormHead(contentType, -1, false);
    }
}
