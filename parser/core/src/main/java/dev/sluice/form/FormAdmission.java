package dev.sluice.form;

import java.io.IOException;

/**
 * Decides whether a form may begin, and when. Asked before the first byte of its body is read, for instance because the sinks
 * of its parts need memory that others have. One that waits for longer than {@link FormOptions#maxSinkWait()} is refused with 503.
 */
@FunctionalInterface
public interface FormAdmission {
    /**
     * {@return {@link Readiness#READY}, or one to come; if it fails, the form does}
     *
     * @throws IOException if the form may not begin; it fails with that
     */
    Readiness admit() throws IOException;

    /** The form has ended, well or not, and its sinks are closed. Follows each {@link #admit}, once, on any thread. */
    default void ended() {}
}
