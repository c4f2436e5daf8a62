package dev.sluice.form;

import dev.sluice.Deviation;
import dev.sluice.PartHead;
import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The charset rules of one form (RFC 7578 section 4.5): the charset of the part, else the one that the {@code _charset_} field
 * names, else UTF-8.
 */
final class TextRules {
    static final int MAX_CHARSET_NAME = 64;

    final long maxFieldBytes;
    private @Nullable String formCharsetName;

    TextRules(long maxFieldBytes) {
        this.maxFieldBytes = maxFieldBytes;
    }

    static boolean namesCharset(PartHead head) {
        return head.filename() == null && "_charset_".equals(head.name());
    }

    /** Takes the charset from the value of a {@code _charset_} field; the first one counts. {@return a deviation, or null} */
    @Nullable
    Deviation learnFrom(byte[] value) {
        String name = new String(value, StandardCharsets.US_ASCII);
        if (value.length > MAX_CHARSET_NAME) {
            return Deviation.UNKNOWN_CHARSET;
        }
        Charset named = Text.charset(name);
        if (named != null && !Text.keepsAscii(named)) {
            return Deviation.CHARSET_WITHOUT_ASCII;
        }
        if (formCharsetName == null) {
            formCharsetName = name;
        }
        return named != null ? null : Deviation.UNKNOWN_CHARSET;
    }

    /** {@return the charset for a part; UTF-8 if the charset that applies is unknown} */
    Charset charsetOf(@Nullable String ofPart) {
        String name = ofPart != null ? ofPart : formCharsetName;
        Charset named = name == null ? null : Text.charset(name);
        return named != null ? named : StandardCharsets.UTF_8;
    }
}
