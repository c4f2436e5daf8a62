package dev.sluice.header;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A case-insensitive word of the grammar (RFC 9110 sections 5.1 and 5.6.6). Comparisons are fastest if the input has the same case. */
public final class Keyword {
    static final Keyword CONTENT_DISPOSITION = new Keyword("Content-Disposition");
    public static final Keyword CONTENT_TYPE = new Keyword("Content-Type");
    public static final Keyword CONTENT_TRANSFER_ENCODING = new Keyword("Content-Transfer-Encoding");
    static final Keyword CONTENT_LENGTH = new Keyword("Content-Length");
    static final Keyword FORM_DATA = new Keyword("form-data");
    static final Keyword NAME = new Keyword("name");
    static final Keyword FILENAME = new Keyword("filename");
    static final Keyword MULTIPART = new Keyword("multipart/");
    static final Keyword SEVEN_BIT = new Keyword("7bit");
    static final Keyword EIGHT_BIT = new Keyword("8bit");
    static final Keyword BINARY = new Keyword("binary");

    private final byte[] spelling;

    public Keyword(String spelling) {
        this.spelling = spelling.getBytes(StandardCharsets.US_ASCII);
    }

    int length() {
        return spelling.length;
    }

    boolean is(byte[] array, int from, int to) {
        return to - from == spelling.length && startsAt(array, from, to);
    }

    /** {@return whether {@code array[from..to)} starts with this word} */
    boolean startsAt(byte[] array, int from, int to) {
        return startsExactlyAt(array, from, to) || to - from >= spelling.length && equalsIgnoreCase(array, from);
    }

    /** {@return whether {@code array[from..to)} starts with this word in the same case} */
    boolean startsExactlyAt(byte[] array, int from, int to) {
        return to - from >= spelling.length
                && Arrays.equals(array, from, from + spelling.length, spelling, 0, spelling.length);
    }

    private boolean equalsIgnoreCase(byte[] array, int from) {
        for (int i = 0; i < spelling.length; i++) {
            if (lowerCase(array[from + i]) != lowerCase(spelling[i])) {
                return false;
            }
        }
        return true;
    }

    private static int lowerCase(byte b) {
        return b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b;
    }
}
