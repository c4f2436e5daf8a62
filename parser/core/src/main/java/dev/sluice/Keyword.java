package dev.sluice;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A word of the grammar, which is read in any case (RFC 9110 sections 5.1 and 5.6.6) and nearly always comes in one. */
final class Keyword {
    static final Keyword CONTENT_DISPOSITION = new Keyword("Content-Disposition");
    static final Keyword CONTENT_TYPE = new Keyword("Content-Type");
    static final Keyword CONTENT_TRANSFER_ENCODING = new Keyword("Content-Transfer-Encoding");
    static final Keyword CONTENT_LENGTH = new Keyword("Content-Length");
    static final Keyword FORM_DATA = new Keyword("form-data");
    static final Keyword NAME = new Keyword("name");
    static final Keyword FILENAME = new Keyword("filename");
    static final Keyword MULTIPART = new Keyword("multipart/");
    static final Keyword SEVEN_BIT = new Keyword("7bit");
    static final Keyword EIGHT_BIT = new Keyword("8bit");
    static final Keyword BINARY = new Keyword("binary");

    private final byte[] usual;

    Keyword(String usual) {
        this.usual = usual.getBytes(StandardCharsets.US_ASCII);
    }

    int length() {
        return usual.length;
    }

    boolean is(byte[] array, int from, int to) {
        return to - from == usual.length && startsAt(array, from, to);
    }

    /** {@return whether {@code array[from..to)} starts with this word} */
    boolean startsAt(byte[] array, int from, int to) {
        return isUsualAt(array, from, to) || to - from >= usual.length && equalsIgnoreCase(array, from);
    }

    /** {@return whether {@code array[from..to)} starts with this word in its usual spelling} */
    boolean isUsualAt(byte[] array, int from, int to) {
        return to - from >= usual.length && Arrays.equals(array, from, from + usual.length, usual, 0, usual.length);
    }

    private boolean equalsIgnoreCase(byte[] array, int from) {
        for (int i = 0; i < usual.length; i++) {
            if (lowerCase(array[from + i]) != lowerCase(usual[i])) {
                return false;
            }
        }
        return true;
    }

    private static int lowerCase(byte b) {
        return b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    }
}
