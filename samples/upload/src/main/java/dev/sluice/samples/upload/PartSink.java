package dev.sluice.samples.upload;

import dev.sluice.ReportedDeviation;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;

/**
 * Where the parts of one body go. Called by one thread at a time, in the order of the body: for each part {@link
 * #begin}, {@link #data} any number of times and {@link #end}; after the last part {@link #finish}, once, unless the
 * body turned out to be bad or to be cut off; at the very end {@link #close}, always.
 */
interface PartSink extends AutoCloseable {
    void begin(PartHead head) throws IOException;

    /**
     * Takes bytes of the part's body.
     *
     * @param data borrowed: done with on return
     */
    void data(ByteBuf data) throws IOException;

    void end() throws IOException;

    /**
     * Makes the whole body count.
     *
     * @param bodySize in bytes
     * @return the answer for the client, to be written as JSON
     */
    Object finish(long bodySize, List<ReportedDeviation> deviations) throws IOException;

    /**
     * Describes a body that is refused; nothing is called after it but {@link #close}.
     *
     * @return the answer for the client, to be written as JSON
     */
    Object refuse(ErrorAnswer error, List<ReportedDeviation> deviations);

    /** Discards whatever {@link #finish} did not make count. Idempotent. */
    @Override
    void close();
}
