package dev.sluice.form;

/**
 * How the bytes of one body arrive: what an adapter implements to drive a {@link FormIntake}. It {@linkplain
 * FormIntake#offer offers} what comes, as much as the intake {@linkplain FormIntake#demand() wants}.
 *
 * <p>Experimental, as {@link FormIntake} is.
 */
public interface FormSource {
    /** {@return what the head of the request says of the body} */
    FormHead head();

    /**
     * The intake wants bytes again after it did not, or the form has ended. Any thread; be quick, and offer nothing from
     * here but on the thread that reads.
     */
    void wanted();

    /**
     * Runs what an offer causes: decoding, and the sinks, which may block. On the calling thread by default; a source on
     * an event loop hands it to a worker. What this throws ends the form.
     */
    default void run(Runnable work) {
        work.run();
    }

    /**
     * Runs what follows when a sink is ready again, a client too slow, or so much was decoded at once that it is the turn of
     * others: on a thread of this source, not within this call, which may come from a thread of the sink. What this throws
     * ends the form.
     */
    void resume(Runnable work);
}
