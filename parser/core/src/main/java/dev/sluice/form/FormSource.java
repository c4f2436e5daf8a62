package dev.sluice.form;

/**
 * The source of the bytes of one form, implemented by an adapter. The adapter reads as many bytes as its {@link FormIntake} has
 * {@linkplain FormIntake#demand() demand} for and {@linkplain FormIntake#offer offers} them.
 *
 * <p>Experimental, like {@link FormIntake}.
 */
public interface FormSource {
    /** {@return the request headers that describe the body} */
    FormHead head();

    /**
     * Called when there is demand again after there was none, or when the form has ended. Any thread may call this
     * method. It must return quickly, and it may offer bytes only if the calling thread is the one that reads the body.
     */
    void wanted();

    /**
     * Runs the work that an offer causes: decoding and calls to sinks, which may block. By default the work runs on the calling thread. A
     * source on an event loop passes it to a worker thread. An exception thrown by this method ends the form.
     */
    default void run(Runnable work) {
        work.run();
    }

    /**
     * Runs work later, on a thread of this source. Called when a sink is ready again, when a time limit is exceeded, and to let other forms
     * use the thread. The work should not run within this call, which may come from a timer or from a thread of a sink: decoding, other
     * sinks and file operations would block that thread. If this method throws, the form fails on the calling thread. If the call was
     * caused by a time limit, the form fails only if the limit is still exceeded.
     */
    void resume(Runnable work);
}
