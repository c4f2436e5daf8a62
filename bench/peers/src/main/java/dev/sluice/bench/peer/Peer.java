package dev.sluice.bench.peer;

/**
 * A parser with the chunks it is fed. One thread. {@link Opener#open} makes ready what must not be timed, {@link #run}
 * decodes the whole body once from a fresh parser and may be called any number of times.
 */
public interface Peer extends AutoCloseable {
    /** Makes a peer ready for one body. */
    interface Opener {
        /** @param chunkSize as in {@link Body#cut} */
        Peer open(Body body, int chunkSize, Memory memory);
    }

    /** Decodes the body, telling the tally each part. Copies nothing that the parser itself does not copy. */
    void run(Tally tally) throws Exception;

    /** Gives the chunks back. */
    @Override
    default void close() {}

    /** Sets the leak-detection level of the Netty this parser is linked with; without effect where there is none. */
    default void leakLevel(String level) {}
}
