package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the head of a request says of its body.
 *
 * @param contentTypes all that the request has; one, or the form is refused
 * @param contentEncoding the {@code Content-Encoding}, or null: a form that has one is refused
 * @param contentLength the {@code Content-Length} in bytes, or -1 if it is unknown: for progress and early refusals, never
 *     a bound
 * @param expectsContinue whether the client waits for leave to send ({@code Expect: 100-continue}): a refusal then costs
 *     no body
 */
public record FormHead(
        List<String> contentTypes, @Nullable String contentEncoding, long contentLength, boolean expectsContinue) {
    public FormHead {
        contentTypes = List.copyOf(contentTypes);
        contentLength = Math.max(contentLength, -1);
    }

    /** Makes a head whose body has no {@code Content-Encoding}, and no more than one {@code Content-Type}. */
    public FormHead(@Nullable String contentType, long contentLength, boolean expectsContinue) {
        this(contentType == null ? List.of() : List.of(contentType), null, contentLength, expectsContinue);
    }

    /** {@return a head with nothing but a {@code Content-Type}} */
    public static FormHead of(@Nullable String contentType) {
        return new FormHead(contentType, -1, false);
    }

    /**
     * {@return the boundary of the body}
     *
     * @throws MultipartException if there are two types, or a {@code Content-Encoding} (which nobody here undoes), or as
     *     {@link Boundary#from}
     */
    public Boundary boundary(Preset preset) throws MultipartException {
        if (contentTypes.size() > 1) {
            throw MultipartException.because(Reason.DUPLICATE_HEADER)
                    .saying("the request has more than one Content-Type")
                    .build();
        }
        if (contentEncoding != null && !contentEncoding.strip().equalsIgnoreCase("identity")) {
            throw MultipartException.because(Reason.UNSUPPORTED_MEDIA_TYPE)
                    .saying("the body of the request has a Content-Encoding")
                    .seen(contentEncoding)
                    .build();
        }
        return Boundary.from(contentTypes.isEmpty() ? null : contentTypes.get(0), preset);
    }
}
