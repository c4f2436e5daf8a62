package dev.sluice.fuzz;

/** An exception caused by a bug in the application. */
final class BrokenApplication extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BrokenApplication() {
        super("a bug in the application", null, false, false);
    }
}
