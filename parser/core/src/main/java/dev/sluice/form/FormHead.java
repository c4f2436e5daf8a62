package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a request that describe its body.
 *
 * @param contentTypes all {@code Content-Type} headers of the request; a form needs exactly one
 * @param contentEncoding the {@code Content-Encoding}, or null; any encoding except {@code identity} is rejected with
 *     415
 * @param contentLength the {@code Content-Length} in bytes, or -1 if it is unknown. It is used to report progress and
 *     to reject long bodies early. It does not limit the number of bytes that are read
 * @param expectsContinue whether the client waits for permission to send the body ({@code Expect: 100-continue}), so
 *     that a rejected body is never sent
 * @param remoteAddress the address of the client as the server knows it, or null; used only for {@link FormSummary}
 */
public record FormHead(
        List<String> contentTypes,
        @Nullable String contentEncoding,
        long contentLength,
        boolean expectsContinue,
        @Nullable String remoteAddress) {
    public FormHead {
        contentTypes = List.copyOf(contentTypes);
        contentLength = Math.max(contentLength, -1);
    }

    /** Creates a head with at most one {@code Content-Type}, no {@code Content-Encoding} and no address. */
    public FormHead(@Nullable String contentType, long contentLength, boolean expectsContinue) {
        this(contentType == null ? List.of() : List.of(contentType), null, contentLength, expectsContinue, null);
    }

    /** {@return a head with only a {@code Content-Type}, which may be null} */
    public static FormHead of(@Nullable String contentType) {
        return new FormHead(contentType, -1, false);
    }

    /**
     * {@return the head of a request, for authors of adapters}
     *
     * @param headers a function from the name of a header to all its values, in order, or to null if there are none, such
     *     as {@code map::get}. The names have the usual case, such as {@code Content-Type}
     * @param remoteAddress the address of the client, or null
     */
    public static FormHead of(
            Function<String, ? extends @Nullable List<String>> headers, @Nullable String remoteAddress) {
        List<String> encodings = values(headers, "Content-Encoding");
        return new FormHead(
                values(headers, "Content-Type"),
                encodings.isEmpty() ? null : String.join(", ", encodings),
                contentLength(values(headers, "Content-Length")),
                values(headers, "Expect").stream().anyMatch("100-continue"::equalsIgnoreCase),
                remoteAddress);
    }

    private static List<String> values(Function<String, ? extends @Nullable List<String>> headers, String name) {
        List<String> values = headers.apply(name);
        return values == null ? List.of() : values;
    }

    private static long contentLength(List<String> values) {
        try {
            return values.size() == 1 ? Long.parseLong(values.get(0)) : -1;
        } catch (NumberFormatException e) {
            return -1; // the server itself rejects a request with a malformed length
        }
    }

    /**
     * {@return the boundary of the body}
     *
     * @throws MultipartException if the request has more than one {@code Content-Type} (400) or has a {@code Content-Encoding} other than
     *     {@code identity} (415), or for the reasons of {@link Boundary#formData}
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
        return Boundary.formData(contentTypes.isEmpty() ? null : contentTypes.get(0), preset);
    }
}
