package dev.sluice.form;

import dev.sluice.form.assembly.PartDestination;
import java.io.IOException;
import java.util.Objects;

/**
 * The destination of one part: the form, a {@link PartSink}, or none. Returned by a {@link PartDecider}.
 *
 * <table>
 *   <caption>Decisions</caption>
 *   <tr><th>decision</th><th>content</th><th>form</th></tr>
 *   <tr><td>{@link #store()}</td><td>in memory, or in a file if it is large</td><td>lists the part</td></tr>
 *   <tr><td>{@link #storeInMemory()}</td><td>in memory</td><td>lists the part</td></tr>
 *   <tr><td>{@link #to}</td><td>in the sink</td><td>does not list the part</td></tr>
 *   <tr><td>{@link #skip()}</td><td>discarded</td><td>does not list the part</td></tr>
 *   <tr><td>{@link #skip(int, String)}</td><td>discarded</td><td>succeeds, {@link MultipartForm#skipped()} lists the part</td></tr>
 *   <tr><td>{@link #reject}</td><td>discarded</td><td>fails</td></tr>
 *   <tr><td>{@link #peek}</td><td colspan="2">one of the above, depending on the first bytes of the part</td></tr>
 * </table>
 *
 * <p>Immutable and thread-safe. A decision with a sink or a {@link Peek} can be used for one part only.
 */
public final class PartDecision {
    private static final int MAX_PEEK_BYTES = 8192;
    private static final PartDecision STORE = new PartDecision(PartDestination::store);
    private static final PartDecision STORE_IN_MEMORY = new PartDecision(PartDestination::storeInMemory);
    private static final PartDecision SKIP = new PartDecision(part -> {});

    /** A callback that decides on a part after its first bytes have arrived. */
    @FunctionalInterface
    public interface Peek {
        /**
         * {@return the decision for the whole part, including the bytes in {@code first}; not another peek}
         *
         * @param first the first bytes of the part: as many as requested, or the whole content if it is shorter. Transfer encodings are
         *     decoded if the form decodes them. The array is a copy, <em>transferred</em> to the callback
         * @throws IOException to fail the form with this exception
         */
        PartDecision decide(byte[] first) throws IOException;
    }

    final PartDestination.Decision decision;

    private PartDecision(PartDestination.Decision decision) {
        this.decision = decision;
    }

    /**
     * {@return a decision to keep the part in the form} The content stays in memory up to {@link FormOptions#spillThreshold()} bytes, or 64
     * KiB for a field if that is more, and then moves to a file of the spool. It moves earlier if memory runs short. This is the default.
     */
    public static PartDecision store() {
        return STORE;
    }

    /**
     * {@return a decision to keep the part in the form, in memory} If the content has more than {@link
     * dev.sluice.MultipartOptions#maxFieldBytes()} bytes, the form fails with {@code FIELD_TOO_LARGE} (413).
     */
    public static PartDecision storeInMemory() {
        return STORE_IN_MEMORY;
    }

    /**
     * {@return a decision to write the part to {@code sink}} The form does not list the part.
     *
     * @param sink a sink for this part only, <em>transferred</em>: the form closes it, however the form ends
     */
    public static PartDecision to(PartSink sink) {
        Objects.requireNonNull(sink, "sink");
        return new PartDecision(part -> part.sendTo(sink));
    }

    /** {@return a decision to discard the content of the part} The form succeeds and does not mention the part. */
    public static PartDecision skip() {
        return SKIP;
    }

    /**
     * {@return a decision to discard the content of the part and list the part in {@link MultipartForm#skipped()}}
     *
     * <p><b>The form succeeds without the part.</b> The application reads the list and chooses the response. To reject
     * the whole upload, use {@link #reject}.
     *
     * @param status the HTTP status for {@link SkippedPart#httpStatus()}, 400 to 599
     * @param message the reason, for {@link SkippedPart#message()}: a text of the application that contains no client
     *     input
     */
    public static PartDecision skip(int status, String message) {
        checkStatus(status);
        return new PartDecision(part -> part.skip(status, message));
    }

    /**
     * {@return a decision to reject the whole form} It fails with a {@link dev.sluice.MultipartException} whose reason
     * is {@code PART_REFUSED}.
     *
     * @param status the HTTP status of the exception, 400 to 599
     * @param message the message of the exception: a text of the application that contains no client input
     */
    public static PartDecision reject(int status, String message) {
        checkStatus(status);
        return new PartDecision(part -> part.reject(status, message));
    }

    /**
     * {@return a decision to wait for the first bytes of the part and to let {@code peek} decide} The callback can check the magic number
     * of a file type, for example.
     *
     * @param bytes the number of bytes to wait for, 1 to 8192. They are held in memory until the decision, and charged
     *     to the form
     * @param peek the callback that decides; called once, with fewer bytes if the content is shorter
     */
    public static PartDecision peek(int bytes, Peek peek) {
        if (bytes < 1 || bytes > MAX_PEEK_BYTES) {
            throw new IllegalArgumentException("bytes is " + bytes + ", must be 1 to " + MAX_PEEK_BYTES);
        }
        Objects.requireNonNull(peek, "peek");
        return new PartDecision(part -> part.peek(bytes, first -> peek.decide(first).decision));
    }

    private static void checkStatus(int status) {
        if (status < 400 || status > 599) {
            throw new IllegalArgumentException("status is " + status + ", must be 400 to 599");
        }
    }
}
