package dev.sluice.form;

import dev.sluice.Deviation;
import dev.sluice.PartHead;
import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * How the text of a form is decoded: by the part's own charset, else by the {@code _charset_} field, else as UTF-8 (RFC
 * 7578 section 4.5).
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

    /** Takes the charset of the form from the first field that {@code value} is of. {@return what is odd about it, or null} */
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

    /** {@return the charset that counts; UTF-8 where the one that counts is unknown} */
    Charset charsetOf(@Nullable String ofPart) {
        String name = ofPart != null ? ofPart : formCharsetName;
        Charset named = name == null ? null : Text.charset(name);
        return named != null ? named : StandardCharsets.UTF_8;
    }
}
