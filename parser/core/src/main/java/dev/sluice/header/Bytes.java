package dev.sluice.header;

/** Character classes of the grammars. */
public final class Bytes {
    public static final byte CR = '\r';
    public static final byte LF = '\n';

    private static final byte TOKEN = 1;
    private static final byte BOUNDARY = 2;

    private static final byte[] CLASSES = classes();

    private Bytes() {}

    private static byte[] classes() {
        byte[] classes = new byte[256];
        String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        mark(classes, letters + "!#$%&'*+-.^_`|~", TOKEN); // RFC 9110 section 5.6.2
        mark(classes, letters + "'()+_,-./:=? ", BOUNDARY); // RFC 2046 section 5.1.1
        return classes;
    }

    private static void mark(byte[] classes, String bytes, byte mark) {
        for (int i = 0; i < bytes.length(); i++) {
            classes[bytes.charAt(i)] |= mark;
        }
    }

    /** {@return whether {@code b} may occur in an HTTP token, such as a field name} */
    static boolean isToken(byte b) {
        return (CLASSES[b & 0xFF] & TOKEN) != 0;
    }

    static boolean isToken(char c) {
        return c < 128 && isToken((byte) c);
    }

    /** {@return whether {@code text} is an HTTP token, which is not empty} */
    public static boolean isToken(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> isToken((char) c));
    }

    /** {@return whether {@code c} is one of RFC 2046's {@code bchars}} */
    public static boolean isBoundary(char c) {
        return c < 128 && (CLASSES[c] & BOUNDARY) != 0;
    }

    public static boolean isBlank(byte b) {
        return b == ' ' || b == '\t';
    }

    /** {@return whether {@code b} is a control character, but not TAB} */
    static boolean isControl(byte b) {
        return b >= 0 && b < ' ' && b != '\t' || b == 0x7F;
    }

    static boolean isLineEnd(byte b) {
        return b == CR || b == LF;
    }

    /** {@return whether {@code b} is a blank or a line end; within a value, a line end is part of a fold} */
    static boolean isSpace(byte b) {
        return isBlank(b) || isLineEnd(b);
    }

    /** {@return the index of the first byte in {@code [from, to)} that is not a {@linkplain #isSpace space}, or {@code to}} */
    static int trimStart(byte[] array, int from, int to) {
        int start = from;
        while (start < to && isSpace(array[start])) {
            start++;
        }
        return start;
    }

    /** {@return the index after the last byte in {@code [from, to)} that is not a {@linkplain #isSpace space}, or {@code from}} */
    static int trimEnd(byte[] array, int from, int to) {
        int end = to;
        while (end > from && isSpace(array[end - 1])) {
            end--;
        }
        return end;
    }

    public static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    /** {@return {@code b} for a message: as a character if it is printable, otherwise in hexadecimal} */
    public static String show(byte b) {
        return b > ' ' && b < 0x7F ? "'" + (char) b + "'" : String.format("0x%02X", b & 0xFF);
    }
}
