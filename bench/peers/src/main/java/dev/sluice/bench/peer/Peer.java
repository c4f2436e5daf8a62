package dev.sluice.bench.peer;

/**
 * A parser under test and the chunks of a body. {@link Opener#open} prepares everything that is not timed. {@link #run} decodes the body
 * once with a new parser and may be called repeatedly. Not thread-safe.
 */
public interface Peer extends AutoCloseable {
    interface Opener {
        /** @param chunkSize as in {@link Body#cut} */
        Peer open(Body body, int chunkSize, Memory memory);
    }

    /** Decodes the body and adds each part to the tally. Makes no copy that the parser does not require. */
    void run(Tally tally) throws Exception;

    @Override
    default void close() {}

    /** Sets the leak detection level of the Netty that the parser uses; no effect for other parsers. */
    default void leakLevel(String level) {}
}
