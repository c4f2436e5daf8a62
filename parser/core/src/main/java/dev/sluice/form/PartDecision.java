package dev.sluice.form;

import java.io.IOException;
import java.util.Objects;

/** What to do with one part. */
public final class PartDecision {
    private static final int MOST_FIRST_BYTES = 8192;
    private static final PartDecision SPILL = new PartDecision(PartIntake::spill);
    private static final PartDecision MEMORY = new PartDecision(PartIntake::keepInMemory);
    private static final PartDecision SKIP = new PartDecision(part -> {});

    /** Decides with the first bytes of the part at hand. */
    @FunctionalInterface
    public interface Look {
        /**
         * {@return what to do with the part; not another look}
         *
         * @param first the first bytes of the part, transfer encoding undone: as many as asked for, or all
         * @throws IOException if it cannot be decided; the form has then failed
         */
        PartDecision decide(byte[] first) throws IOException;
    }

    interface Action {
        void applyTo(PartIntake part) throws IOException;
    }

    final Action action;

    private PartDecision(Action action) {
        this.action = action;
    }

    /** {@return a decision to keep the part in memory up to the threshold of the form, then in a file: the default} */
    public static PartDecision spill() {
        return SPILL;
    }

    /** {@return a decision to keep the part in memory; beyond {@link dev.sluice.MultipartOptions#maxFieldBytes()} the form fails with 413} */
    public static PartDecision memory() {
        return MEMORY;
    }

    /**
     * {@return a decision to send the part to {@code sink}; the form does not have it then}
     *
     * @param sink <em>transferred</em>: closed on every path
     */
    public static PartDecision to(PartSink sink) {
        Objects.requireNonNull(sink, "sink");
        return new PartDecision(part -> part.giveTo(sink));
    }

    /** {@return a decision to skip the part} */
    public static PartDecision skip() {
        return SKIP;
    }

    /**
     * {@return a decision to skip the part and list it in {@link MultipartForm#refused()}}. The form succeeds without the part:
     * the application looks at that list and answers. To reject the upload, use {@link #refuseForm}.
     *
     * @param status the HTTP status to answer, 400 to 599
     * @param message why, for the answer; of the application, not of the client
     */
    public static PartDecision refuse(int status, String message) {
        checkStatus(status);
        return new PartDecision(part -> part.refuse(status, message));
    }

    /**
     * {@return a decision to fail the form with a {@link dev.sluice.MultipartException} ({@code PART_REFUSED})}
     *
     * @param status the HTTP status to answer, 400 to 599
     * @param message why, for the answer; of the application, not of the client
     */
    public static PartDecision refuseForm(int status, String message) {
        checkStatus(status);
        return new PartDecision(part -> part.refuseForm(status, message));
    }

    /**
     * {@return a decision to wait for the first bytes, in memory, and decide by them, for instance by the magic number of a
     * file type}
     *
     * @param bytes how many to wait for, 1 to 8192
     */
    public static PartDecision look(int bytes, Look look) {
        if (bytes < 1 || bytes > MOST_FIRST_BYTES) {
            throw new IllegalArgumentException("bytes is " + bytes + ", must be 1 to " + MOST_FIRST_BYTES);
        }
        Objects.requireNonNull(look, "look");
        return new PartDecision(part -> part.holdBack(bytes, look));
    }

    private static void checkStatus(int status) {
        if (status < 400 || status > 599) {
            throw new IllegalArgumentException("status is " + status + ", must be 400 to 599");
        }
    }
}
