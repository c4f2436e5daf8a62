package dev.sluice.testkit;

/** Character classes of the grammars. */
final class Bytes {
    static final int CR = '\r';
    static final int LF = '\n';

    private Bytes() {}

    /** {@return whether a byte is a tchar (RFC 9110 section 5.6.2)} */
    static boolean isToken(int c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || (c > ' ' && c < 0x7F && "!#$%&'*+-.^_`|~".indexOf(c) >= 0);
    }

    static boolean isBlank(int c) {
        return c == ' ' || c == '\t';
    }

    /** {@return whether a byte is not allowed in a header value} */
    static boolean isControl(int c) {
        return (c < ' ' && c != '\t') || c == 0x7F;
    }
}
