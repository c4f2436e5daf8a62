package dev.sluice.task;

/** A call whose exceptions must not affect the caller, for example to a callback of the application. */
public final class IsolatedCall {
    private IsolatedCall() {}

    /** Runs {@code call} and passes its exceptions to the uncaught-exception handler of the thread. */
    public static void run(Runnable call) {
        try {
            call.run();
        } catch (Throwable e) {
            Thread thread = Thread.currentThread();
            try {
                thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
            } catch (Throwable ignored) {
                // the JVM ignores exceptions of a handler as well
            }
        }
    }
}
