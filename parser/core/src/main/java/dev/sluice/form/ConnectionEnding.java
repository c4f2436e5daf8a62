package dev.sluice.form;

/**
 * How to go on with the connection once the form has ended, well or not. Many clients do not read an answer before they
 * have sent all, and see a reset instead of the 413 if the server just closes: so what is little is read to its end.
 *
 * @param drainBytes how many bytes of the body to read and drop at most; 0 for none
 * @param reusable whether the connection is good for another request once the body has ended within {@code drainBytes};
 *     if it has not ended by then, or this is false, answer and close
 */
public record ConnectionEnding(long drainBytes, boolean reusable) {
    private static final ConnectionEnding CLOSE = new ConnectionEnding(0, false);

    /**
     * {@return the advice}
     *
     * @param left bytes of the body not read yet, or -1 if unknown
     * @param maxDrain the most that is worth reading
     */
    public static ConnectionEnding of(long left, long maxDrain) {
        return left > maxDrain || maxDrain == 0 && left != 0
                ? CLOSE
                : new ConnectionEnding(left < 0 ? maxDrain : left, true);
    }
}
