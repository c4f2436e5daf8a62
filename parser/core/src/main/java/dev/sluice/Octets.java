package dev.sluice;

/** Classes of octets, and names compared without regard to case. */
final class Octets {
    static final byte CR = '\r';
    static final byte LF = '\n';

    private static final byte TOKEN = 1;
    private static final byte BOUNDARY = 2;
    private static final byte VALUE = 4;
    private static final byte ATTRIBUTE = 8;

    private static final byte[] CLASSES = classes();

    private Octets() {}

    private static byte[] classes() {
        byte[] classes = new byte[256];
        String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        mark(classes, letters + "!#$%&'*+-.^_`|~", TOKEN); // RFC 9110 section 5.6.2
        mark(classes, letters + "'()+_,-./:=? ", BOUNDARY); // RFC 2046 section 5.1.1
        mark(classes, letters + "!#$&+-.^_`|~", ATTRIBUTE); // RFC 8187 section 3.2.1
        for (int octet = 0; octet < 256; octet++) { // RFC 9110 section 5.5
            if (octet >= ' ' && octet != 0x7F || octet == '\t') {
                classes[octet] |= VALUE;
            }
        }
        return classes;
    }

    private static void mark(byte[] classes, String octets, byte mark) {
        for (int i = 0; i < octets.length(); i++) {
            classes[octets.charAt(i)] |= mark;
        }
    }

    /** {@return whether {@code octet} may stand in an HTTP token, such as a field name} */
    static boolean isToken(byte octet) {
        return (CLASSES[octet & 0xFF] & TOKEN) != 0;
    }

    /** {@return whether {@code octet} may stand in a field value} */
    static boolean isValue(byte octet) {
        return (CLASSES[octet & 0xFF] & VALUE) != 0;
    }

    /** {@return whether {@code octet} may stand unescaped in an RFC 8187 extended value} */
    static boolean isAttribute(byte octet) {
        return (CLASSES[octet & 0xFF] & ATTRIBUTE) != 0;
    }

    static boolean isToken(char c) {
        return c < 128 && isToken((byte) c);
    }

    /** {@return whether {@code c} is one of RFC 2046's {@code bchars}} */
    static boolean isBoundary(char c) {
        return c < 128 && (CLASSES[c] & BOUNDARY) != 0;
    }

    static boolean isBlank(byte octet) {
        return octet == ' ' || octet == '\t';
    }

    static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    /** {@return the value of a hexadecimal digit, or -1} */
    static int hex(byte octet) {
        return Character.digit(octet, 16);
    }

    /** {@return {@code octet} for a message: itself where printable, else as hexadecimal escape} */
    static String show(byte octet) {
        return octet > ' ' && octet < 0x7F ? "'" + (char) octet + "'" : String.format("0x%02X", octet & 0xFF);
    }
}
