package dev.sluice.samples.upload;

import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;

/**
 * Takes in the body of one request: {@link BodyIntake}, or in the benchmarks what it is compared with. All methods are
 * called on the event loop, and so are those of the {@link Listener}.
 */
interface BodyReceiver {
    /** Makes one for a request; the {@link PartSink} is the one that belongs to the request's path. */
    interface Factory {
        BodyReceiver create(
                Boundary boundary,
                MultipartOptions options,
                PartSink sink,
                EventExecutor loop,
                EventExecutor worker,
                ServerMetrics metrics,
                Listener listener);
    }

    /** Is told how it goes; never from within a call of the receiver. */
    interface Listener {
        /** {@link BodyReceiver#isReady()} is true again. */
        void ready();

        /**
         * The end, once, unless {@linkplain BodyReceiver#abort aborted}; what is not to be kept is already deleted.
         * {@code error} is null for a good body.
         */
        void ended(@Nullable ErrorAnswer error, Object answer);
    }

    /** {@return whether {@link #offer} may be called; once it is not, {@link Listener#ready} will tell} */
    boolean isReady();

    /** {@return whether nothing more is wanted: the body was refused, failed or was aborted} */
    boolean isOver();

    /**
     * Takes the next bytes of the body.
     *
     * @param chunk transferred
     */
    void offer(ByteBuf chunk);

    /** Says that the body is complete. The {@link Listener} will hear of the end. */
    void finish();

    /** Refuses the body for a reason outside of it. The {@link Listener} will hear of the end. */
    void refuse(ErrorAnswer error);

    /** {@return the 0-based index of the part being received, or -1} */
    int partIndex();

    /** Forgets all of it: the client is gone. Idempotent; the {@link Listener} hears nothing more. */
    void abort();
}
