package dev.sluice.form;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * How the text of a form is decoded: by the part's own charset, else by the {@code _charset_} field, else as UTF-8 (RFC
 * 7578 section 4.5).
 */
final class TextRules {
    private static final int MAX_CHARSET_NAME = 64;

    private final long maxFieldBytes;
    private @Nullable String formCharsetName;

    TextRules(long maxFieldBytes) {
        this.maxFieldBytes = maxFieldBytes;
    }

    long maxFieldBytes() {
        return maxFieldBytes;
    }

    /**
     * Takes the charset of the form from its first {@code _charset_} field. {@return false if {@code part} is one and
     * names none}
     */
    boolean learnFrom(FormPart part) throws IOException {
        if (part.isFile() || !part.name().equals("_charset_")) {
            return true;
        }
        if (part.size() > MAX_CHARSET_NAME) {
            return false;
        }
        String name = part.text();
        if (formCharsetName == null) {
            formCharsetName = name;
        }
        return isKnown(name);
    }

    /** {@return the charset that counts; UTF-8 where the one that counts is unknown} */
    Charset charsetOf(@Nullable String ofPart) {
        String name = ofPart != null ? ofPart : formCharsetName;
        return name != null && isKnown(name) ? Charset.forName(name) : StandardCharsets.UTF_8;
    }

    static boolean isKnown(String name) {
        try {
            return Charset.isSupported(name);
        } catch (IllegalCharsetNameException e) {
            return false;
        }
    }
}
