package dev.sluice.form;

/**
 * The source of the bytes of one form, implemented by an adapter. The adapter reads as many bytes as its {@link FormIntake} has
 * {@linkplain FormIntake#demand() demand} for and {@linkplain FormIntake#offer offers} them.
 *
 * <p>Experimental, as {@link FormIntake} is.
 */
public interface FormSource {
    /** {@return the properties of the body in the head of the request} */
    FormHead head();

    /**
     * Called when there is demand again after there was none, or the form has ended. It may be called by any thread, must return
     * quickly, and must not offer bytes unless it is called by the thread that reads.
     */
    void wanted();

    /**
     * Runs the work that an offer causes: decoding and sinks, which may block. By default it runs on the calling thread. A source on
     * an event loop passes it to a worker. An exception of this method ends the form.
     */
    default void run(Runnable work) {
        work.run();
    }

    /**
     * Runs work later, on a thread of this source. Called when a sink is ready again, when a client is too slow, and when other
     * forms get a turn on the thread. The work must not run within this call, which may come from a thread of the sink. An
     * exception of this method ends the form.
     */
    void resume(Runnable work);
}
