package dev.sluice.legacy;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** A decoder of texts that consist of RFC 2047 encoded words such as {@code =?utf-8?B?w7w=?=}, separated by blanks. */
public final class EncodedWords {
    private EncodedWords() {}

    /** {@return the decoded words of {@code text}; null if it contains anything else or a word that cannot be decoded} */
    public static @Nullable String in(String text) {
        StringBuilder decoded = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int encoding = text.indexOf('?', at + 2) + 1;
            int start = encoding + 2;
            int end = text.indexOf("?=", start);
            if (!text.startsWith("=?", at) || encoding == 0 || end < 0 || text.charAt(encoding + 1) != '?') {
                return null;
            }
            String word = word(text.substring(at + 2, encoding - 1), text.charAt(encoding), text.substring(start, end));
            if (word == null) {
                return null;
            }
            decoded.append(word);
            at = end + 2;
            int afterBlanks = at;
            while (afterBlanks < text.length() && " \t".indexOf(text.charAt(afterBlanks)) >= 0) {
                afterBlanks++;
            }
            if (afterBlanks == at && at < text.length() || afterBlanks > at && afterBlanks == text.length()) {
                return null;
            }
            at = afterBlanks;
        }
        return decoded.toString();
    }

    private static @Nullable String word(String charsetName, char encoding, String text) {
        byte[] raw = encoding == 'B' || encoding == 'b'
                ? base64(text)
                : encoding == 'Q' || encoding == 'q' ? quotedPrintable(text) : null;
        return ExtendedValue.text(raw, ExtendedValue.charset(charsetName));
    }

    private static byte @Nullable [] base64(String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static byte @Nullable [] quotedPrintable(String text) {
        byte[] bytes = text.replace("_", "=20").getBytes(StandardCharsets.US_ASCII); // other characters become "?"
        return ExtendedValue.unescape('=', bytes, 0, bytes.length, b -> b > ' ' && b < 0x7F && b != '?');
    }
}
