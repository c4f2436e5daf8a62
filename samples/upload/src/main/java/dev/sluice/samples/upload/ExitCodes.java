package dev.sluice.samples.upload;

/** What the program ends with. */
final class ExitCodes {
    static final int GOOD = 0;

    /** The body is bad. */
    static final int BAD_BODY = 1;

    /** Wrong use, or I/O. */
    static final int TROUBLE = 2;

    private ExitCodes() {}
}
