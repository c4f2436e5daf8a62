package dev.sluice.form;

/**
 * A listener for the requests and uploads of sinks that write to a network store; {@link FormMetrics} is the
 * counterpart for forms. It is called concurrently, by the threads of the forms and of the store's client.
 * Implementations must be thread-safe and return quickly.
 *
 * <p>Exceptions thrown by a listener do not affect forms or uploads. They are passed to the {@linkplain
 * Thread#getUncaughtExceptionHandler() uncaught exception handler} of the thread.
 */
public interface StoreMetrics {
    /** A listener that does nothing. */
    StoreMetrics NONE = new StoreMetrics() {};

    /** The reason for repeating a request. */
    enum Cause {
        /** The store asks the client to send fewer requests. */
        BUSY,
        /** The store did not respond within the time limit of an attempt. */
        TIMEOUT,
        /** The connection could not be established, or was lost. */
        CONNECTION,
        /** The credentials have expired. */
        CREDENTIALS,
        /** Another writer uses the same key. */
        CONFLICT,
        /** The data that arrived differs from the data that was sent. */
        DAMAGED,
        /** The store failed in another way. */
        SERVER
    }

    /** Called when a request has failed and will be repeated. */
    default void retried(Cause cause) {}

    /**
     * Called when a form has stopped waiting for memory.
     *
     * @param nanos how long the form waited, in nanoseconds
     * @param admitted whether the form has received the memory; otherwise it was rejected or has ended
     */
    default void waited(long nanos, boolean admitted) {}

    /**
     * Called when the sending of a request body to the store begins, and again when the request has succeeded or
     * failed.
     *
     * @param segments the change in the number of bodies being sent, 1 or -1
     * @param bytes the change in their total size, in bytes
     */
    default void sending(int segments, long bytes) {}

    /** Called when the upload of a part has been aborted. The part does not become an object. */
    default void aborted() {}

    /**
     * Called when a sweep has removed the remains of killed processes, or has failed. The counts of a failed sweep include what it had removed
     * before. If some files of a form could not be deleted, none of its files is counted.
     *
     * @param uploads the number of uploads that were aborted
     * @param objects the number of files that were deleted
     */
    default void swept(int uploads, int objects) {}
}
