package dev.sluice.form;

/**
 * Is told what sinks into a store on the network do, as {@link FormMetrics} is of forms. Called on the threads of forms and
 * of the client of the store, several at a time, so be thread-safe and quick. What it throws changes nothing; it goes to the
 * {@linkplain Thread#getUncaughtExceptionHandler() uncaught exception handler} of the thread.
 */
public interface StoreMetrics {
    /** Is told and does nothing. */
    StoreMetrics NONE = new StoreMetrics() {};

    /** Why a request is made again. */
    enum Cause {
        /** The store asks for fewer requests. */
        BUSY,
        /** No answer within the time of an attempt. */
        TIMEOUT,
        /** The connection was not made, or was lost. */
        CONNECTION,
        /** The credentials have expired. */
        CREDENTIALS,
        /** Another writes under the same key. */
        CONFLICT,
        /** What came is not what was sent. */
        DAMAGED,
        /** The store fails otherwise. */
        SERVER
    }

    /** A request has failed and is going to be made again. */
    default void retried(Cause cause) {}

    /**
     * A form had to wait for memory, and does so no more.
     *
     * @param nanos how long
     * @param admitted whether it has the memory now; else it is refused, or has ended
     */
    default void waited(long nanos, boolean admitted) {}

    /**
     * Bodies are on their way to the store: so many more, or fewer when they have arrived or failed.
     *
     * @param segments the change of their number, 1 or -1
     * @param bytes the change of what they hold together
     */
    default void sending(int segments, long bytes) {}

    /** The upload of a part has been ended, and is not going to be an object. */
    default void aborted() {}

    /**
     * A sweep has removed what killed processes left.
     *
     * @param uploads how many were ended
     * @param objects how many were deleted
     */
    default void swept(int uploads, int objects) {}
}
