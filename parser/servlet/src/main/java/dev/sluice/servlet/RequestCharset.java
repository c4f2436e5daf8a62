package dev.sluice.servlet;

import dev.sluice.MultipartOptions;
import dev.sluice.form.FormOptions;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The charset that the application set for a request. Containers report the {@code charset} parameter of the Content-Type if the
 * application sets no encoding. That parameter is ignored here, because the client sets it. An application that sets the same charset
 * before the filter cannot be distinguished from the client, so its charset is ignored as well.
 */
final class RequestCharset {
    /** Matches {@code charset=} in longer names too, such as {@code xcharset=}, because Open Liberty takes the charset from them. */
    private static final Pattern CLIENT = Pattern.compile("(?i)charset\\s*=[\\s\"']*([^\\s\"';,]+)");

    private final HttpServletRequest source;
    private volatile boolean setAfterFilter;

    RequestCharset(HttpServletRequest source) {
        this.source = source;
    }

    /** Records that the application set the character encoding after the request had reached the filter. */
    void setAfterFilter() {
        setAfterFilter = true;
    }

    /** {@return the charset that the application set; null if there is none, or it is not a superset of ASCII} */
    @Nullable
    Charset get() {
        Charset charset = usable(source.getCharacterEncoding());
        return charset == null || !setAfterFilter && isNamedByClient(charset) ? null : charset;
    }

    private static @Nullable Charset usable(@Nullable String name) {
        if (name == null) {
            return null;
        }
        try {
            Charset charset = Charset.forName(name);
            if (!charset.equals(StandardCharsets.UTF_8)) {
                MultipartOptions.builder().headerCharset(charset);
            }
            return charset;
        } catch (IllegalArgumentException e) { // unknown, or not a superset of ASCII
            return null;
        }
    }

    private boolean isNamedByClient(Charset charset) {
        // Tomcat and Undertow remove the escapes of a quoted string.
        String type = String.valueOf(source.getContentType()).replace("\\", "");
        return CLIENT.matcher(type).results().anyMatch(found -> charset.equals(usable(found.group(1))));
    }

    /** {@return {@code options}, or a copy that decodes names in this charset if {@code options} would use UTF-8} */
    FormOptions applyTo(FormOptions options) {
        Charset charset = get();
        return charset == null
                        || charset.equals(StandardCharsets.UTF_8)
                        || !options.multipart().headerCharset().equals(StandardCharsets.UTF_8)
                ? options
                : options.toBuilder().headerCharset(charset).build();
    }
}
