package dev.sluice.form;

import java.io.IOException;

/**
 * A callback at the start and at the end of a form, for sinks that share a resource. At the start, it decides whether
 * and when the form may begin, for instance when there is memory for its sinks. A form that waits longer than {@link
 * FormOptions#maxSinkWait()} is rejected with 503. At the end, after all sinks were published, the callback commits the
 * form.
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
     * {@return {@link Readiness#READY} if the form is committed, or a pending readiness to wait for} Called once, after every sink was
     * {@linkplain PartSink#publish() published}. If the readiness fails, all sinks are {@linkplain PartSink#retract() retracted} and the
     * form fails. Once the form is committed, nothing can fail it.
     *
     * <p>While the readiness is pending, nothing else ends the form, because only the admission can find out whether the
     * form is committed. So the readiness must not stay pending forever.
     *
     * @throws IOException to fail the form with this exception
     */
    default Readiness commit() throws IOException {
        return Readiness.READY;
    }

    /**
     * Cancels a pending {@link #commit} if that is still possible. Called because the form was aborted or the commit takes longer than
     * {@link FormOptions#maxSinkWait()}. If the commit can still be prevented, the admission must fail the pending readiness. Otherwise the
     * outcome of the commit is the outcome of the form, which may still complete. Called at most once, on any thread.
     *
     * @param reason why the form was aborted
     */
    default void cancelCommit(Throwable reason) {}

    /**
     * Called after the form has ended, successfully or not, and its sinks are closed. Called exactly once for each call to {@link #admit},
     * even if that call threw. May be called on any thread.
     */
    default void ended() {}
}
