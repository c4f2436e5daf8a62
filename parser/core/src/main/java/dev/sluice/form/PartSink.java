package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.CopyOption;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;

/**
 * Where the body of one part goes.
 *
 * <p>The order of calls is {@code write* complete? publish? retract? close}. {@link #complete()} says that all bytes of
 * the part are there, {@link #publish()} that the <em>whole form</em> ended well: only then may anybody see it. {@link
 * #close()} without {@code publish} removes every trace of the part, so that a part, or a form, that was received only in
 * part can never look complete.
 *
 * <p><b>Back-pressure.</b> {@code write}, {@code complete} and {@code publish} answer {@link Readiness#READY}, or a
 * {@linkplain Readiness#pending() pending readiness}; until that is ready nothing but {@code close} is called, and no
 * thread waits. A sink retains the buffers that it needs until then.
 *
 * <p><b>Threads.</b> One at a time, and each call sees what the one before did; {@code close} may come from any thread
 * while a sink is not ready, and waits for nobody.
 */
public interface PartSink extends AutoCloseable {
    /**
     * Takes some bytes of the part, at least one.
     *
     * @param data <em>borrowed</em>: retain it to use it after this call; its indices may be moved
     * @throws IOException if they cannot be kept; the form has then failed
     */
    Readiness write(ByteBuf data) throws IOException;

    /**
     * All bytes of the part are there. It must not become visible yet.
     *
     * @throws IOException if the part cannot be kept; the form has then failed
     */
    Readiness complete() throws IOException;

    /**
     * The whole form ended well: makes the part visible. Called for all parts in order, after the last has come.
     *
     * @throws IOException if that fails; the form has then failed, and the parts before are {@linkplain #retract()
     *     retracted}
     */
    default Readiness publish() throws IOException {
        return Readiness.READY;
    }

    /**
     * Takes the part back, because a later one could not be published. In reverse order.
     *
     * @throws IOException if it cannot be taken back: the failure of the form then names this one
     */
    default void retract() throws IOException {}

    /**
     * Releases what is held; drops the part unless it was published. Idempotent, called on every path. While {@link #publish}
     * is not ready it drops the part and never becomes ready; where it was ready already, and nobody had seen that, {@link
     * #retract} follows.
     */
    @Override
    void close();

    /** {@return a sink that keeps nothing} */
    static PartSink discard() {
        return new LimitSink(Long.MAX_VALUE);
    }

    /**
     * {@return a sink that writes to {@code channel} as the bytes come; one that takes none fails the form}
     *
     * @param channel in blocking mode; never closed, because closing may be what commits it
     * @throws IllegalBlockingModeException if it is not in blocking mode
     */
    static PartSink to(WritableByteChannel channel) {
        return OutputSink.to(channel);
    }

    /**
     * {@return a sink that writes to {@code out} as the bytes come, and flushes it when the part is complete}
     *
     * @param out never closed, because closing may be what commits it
     */
    static PartSink to(OutputStream out) {
        return OutputSink.to(out);
    }

    /**
     * {@return a sink that makes the part a file, which appears complete, once the whole form ended well, or not at all}
     *
     * @param spool where it is written; best on the file system of the target
     * @param target a path chosen by the application, never by the client
     * @param options as for {@link PartContent#moveTo}
     * @throws UnsupportedOperationException at once, for any other option
     */
    static PartSink toFile(SpoolDirectory spool, Path target, CopyOption... options) {
        return new FileSink(spool, List.of(target).iterator(), options);
    }

    /**
     * {@return as {@link #toFile(SpoolDirectory, Path, CopyOption...)}, a sink that never replaces an existing file}
     *
     * @param targets paths chosen by the application, 1 or more; asked for when the form has ended well, one by one until
     *     one is free
     */
    static PartSink toFile(SpoolDirectory spool, Iterator<Path> targets) {
        return new FileSink(spool, targets);
    }

    /**
     * {@return a sink that gives everything to {@code first} and then to {@code second}; as slow as the slower one}
     */
    static PartSink tee(PartSink first, PartSink second) {
        return new TeeSink(first, second);
    }

    /**
     * {@return a sink that digests what goes to {@code sink}; {@link MessageDigest#digest()} is the caller's to ask once
     * the part is complete}
     */
    static PartSink digest(MessageDigest digest, PartSink sink) {
        Objects.requireNonNull(digest, "digest");
        return tee(to(new DigestOutputStream(OutputStream.nullOutputStream(), digest)), sink);
    }

    /**
     * {@return a sink that gives at most {@code maxBytes} bytes to {@code sink}, and fails beyond with a {@link
     * dev.sluice.MultipartException} of the reason {@code PART_TOO_LARGE}}
     *
     * @param maxBytes 0 or more
     */
    static PartSink limited(PartSink sink, long maxBytes) {
        return tee(new LimitSink(maxBytes), sink);
    }
}
