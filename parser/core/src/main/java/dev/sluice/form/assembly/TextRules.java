package dev.sluice.form.assembly;

import dev.sluice.Deviation;
import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import dev.sluice.buffer.Text;
import dev.sluice.form.storage.StoredContent;
import dev.sluice.header.TransferEncoding;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The charset rules of one form (RFC 7578 section 4.5): the charset of the part if it has one, otherwise the charset
 * named by the {@code _charset_} field, otherwise UTF-8.
 */
public final class TextRules {
    static final int MAX_CHARSET_NAME = 64;

    private final long maxFieldBytes;
    private @Nullable String formCharsetName;

    TextRules(long maxFieldBytes) {
        this.maxFieldBytes = maxFieldBytes;
    }

    static boolean isCharsetField(PartHead head) {
        return head.filename() == null && "_charset_".equals(head.name());
    }

    /**
     * Sets the charset of the form from the value of a {@code _charset_} field. Once a name has been accepted, later
     * fields do not change it.
     *
     * @return the deviation to report for the value, or null if there is none
     */
    @Nullable
    Deviation setFormCharset(byte[] value) {
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

    /** {@return the charset of a part by these rules; UTF-8 if the platform does not support that charset} */
    public Charset charsetOf(PartHead head) {
        String ofPart = head.contentTypeParameter("charset");
        String name = ofPart != null ? ofPart : formCharsetName;
        Charset named = name == null ? null : Text.charset(name);
        return named != null ? named : StandardCharsets.UTF_8;
    }

    /**
     * {@return the text of a part}
     *
     * @throws MultipartException if the content exceeds the maximum size of a field
     */
    public String text(StoredContent part) throws IOException {
        if (part.size() > maxFieldBytes) {
            throw tooLarge(part.head(), maxFieldBytes);
        }
        return new String(part.bytes(), charsetOf(part.head()));
    }

    static MultipartException tooLarge(PartHead head, long max) {
        return head.because(MultipartException.Reason.FIELD_TOO_LARGE)
                .limit(max)
                .at(TransferEncoding.offset(head, max))
                .build();
    }
}
