package dev.sluice.form;

import java.io.IOException;

/**
 * A callback that decides whether and when a form may begin. It is called before the first byte of the body is read,
 * for instance to wait until there is memory for the sinks of the form. A form that waits longer than {@link
 * FormOptions#maxSinkWait()} is rejected with 503.
 */
@FunctionalInterface
public interface FormAdmission {
    /**
     * {@return {@link Readiness#READY} if the form may begin now, or a pending readiness to wait for} If the readiness
     * fails, the form fails.
     *
     * @throws IOException to fail the form with this exception
     */
    Readiness admit() throws IOException;

    /**
     * Called after the form has ended, successfully or not, and its sinks are closed. Called exactly once for each call
     * of {@link #admit}, even one that threw, on any thread.
     */
    default void ended() {}
}
