package dev.sluice.fuzz;

/** What an application throws that has a bug. */
final class BrokenApplication extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BrokenApplication() {
        super("a bug of the application", null, false, false);
    }
}
