package dev.sluice.form;

import dev.sluice.form.sink.FileSink;
import dev.sluice.form.sink.LimitSink;
import dev.sluice.form.sink.OutputSink;
import dev.sluice.form.sink.TeeSink;
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
 * A destination for the content of one part.
 *
 * <p><b>Order of calls.</b> {@code write* complete? publish? retract? close}. {@link #complete()} follows the last byte of the part. {@link
 * #publish()} follows only if the <em>whole form</em> succeeded, and makes the part visible. {@link #close()} without {@code publish}
 * deletes everything. A part that is incomplete or belongs to a failed form is therefore never visible. If the form fails while {@code
 * publish} is pending, {@code close} is called first.
 *
 * <p><b>Back-pressure.</b> {@code write}, {@code complete} and {@code publish} return {@link Readiness#READY}, or a
 * {@linkplain Readiness#pending() pending readiness}. While the readiness is pending, only {@code close} is called, and
 * no thread waits. The sink retains the buffers that it still needs.
 *
 * <p><b>Threads.</b> Calls do not overlap, and each call sees the effects of the previous one. The exception is {@code
 * close}, which any thread may call while the sink is not ready, and which must not block.
 */
public interface PartSink extends AutoCloseable {
    /**
     * Writes bytes of the part, at least one.
     *
     * @param data <em>borrowed</em>: retain it to use it after this call. The sink may move its indices
     * @throws IOException to fail the form with this exception
     */
    Readiness write(ByteBuf data) throws IOException;

    /**
     * Finishes the part after its last byte. The part must not become visible yet.
     *
     * @throws IOException to fail the form with this exception
     */
    Readiness complete() throws IOException;

    /**
     * Makes the part visible, because the whole form succeeded. Called for all parts in order, after the last one has arrived.
     *
     * @throws IOException to fail the form with this exception. The previous parts are {@linkplain #retract() retracted}
     */
    default Readiness publish() throws IOException {
        return Readiness.READY;
    }

    /**
     * Deletes the published part, because a later part could not be published or the form could not be committed.
     * Called in reverse order.
     *
     * @throws IOException if the part cannot be deleted. This exception is then added to the exception of the form as a suppressed one
     */
    default void retract() throws IOException {}

    /**
     * Releases all resources, and deletes the part unless it was published. Idempotent, and called however the form
     * ends.
     *
     * <p>If {@link #publish} is still pending, the part is deleted and the readiness never becomes ready. If the part was published before
     * the form could react, {@link #retract} follows.
     */
    @Override
    void close();

    /** {@return a sink that discards all bytes} */
    static PartSink discard() {
        return new LimitSink(Long.MAX_VALUE);
    }

    /**
     * {@return a sink that writes to {@code channel} as the bytes arrive} A channel that accepts no bytes fails the form. The bytes that
     * were written stay if the form fails. For a file, use {@link #toFile(SpoolDirectory, Path, CopyOption...)}.
     *
     * @param channel the channel, in blocking mode. It is never closed, because closing might commit the written data
     * @throws IllegalBlockingModeException if the channel is not in blocking mode
     */
    static PartSink to(WritableByteChannel channel) {
        return OutputSink.to(channel);
    }

    /**
     * {@return a sink that writes to {@code out} as the bytes arrive, and flushes it when the part is complete} The bytes that were
     * written stay if the form fails. For a file, use {@link #toFile(SpoolDirectory, Path, CopyOption...)}.
     *
     * @param out the stream; never closed, because closing might commit the written data
     */
    static PartSink to(OutputStream out) {
        return OutputSink.to(out);
    }

    /**
     * {@return a sink that creates the file {@code target}} The file becomes visible when the whole form has succeeded,
     * and is then complete.
     *
     * @param spool the directory in which the file is written, preferably on the file system of the target
     * @param target a path chosen by the application, never by the client
     * @param options none, or {@link java.nio.file.StandardCopyOption#REPLACE_EXISTING}. Without it, an existing target
     *     fails the form
     * @throws UnsupportedOperationException for any other option
     */
    static PartSink toFile(SpoolDirectory spool, Path target, CopyOption... options) {
        return new FileSink(spool.spool, List.of(target).iterator(), PartContent.replaces(options));
    }

    /**
     * {@return a sink like {@link #toFile(SpoolDirectory, Path, CopyOption...)} that creates the first target that does
     * not exist} It never replaces a file. If all targets exist, the form fails.
     *
     * @param spool the directory in which the file is written, preferably on the file system of the targets
     * @param targets the candidates: at least one path, chosen by the application; iterated after the form has succeeded, up to the first
     *     that does not exist
     */
    static PartSink toFile(SpoolDirectory spool, Iterator<Path> targets) {
        return new FileSink(spool.spool, targets, false);
    }

    /** {@return a sink that writes each buffer to {@code first} and to {@code second}, and is ready when both are} */
    static PartSink tee(PartSink first, PartSink second) {
        return new TeeSink(first, second);
    }

    /**
     * {@return a sink that updates {@code digest} with all bytes of the part and writes them to {@code sink}}
     *
     * @param digest the digest to update; the caller calls {@link MessageDigest#digest()} after the part is complete
     */
    static PartSink digest(MessageDigest digest, PartSink sink) {
        Objects.requireNonNull(digest, "digest");
        return tee(to(new DigestOutputStream(OutputStream.nullOutputStream(), digest)), sink);
    }

    /**
     * {@return a sink that writes at most {@code maxBytes} bytes to {@code sink}} A larger part fails the form with a {@link
     * dev.sluice.MultipartException} whose reason is {@code PART_TOO_LARGE} (413).
     *
     * @param maxBytes the maximum number of bytes, 0 or more
     * @throws IllegalArgumentException if {@code maxBytes} is negative
     */
    static PartSink limited(PartSink sink, long maxBytes) {
        return tee(new LimitSink(maxBytes), sink);
    }
}
