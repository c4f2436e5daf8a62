package dev.sluice.form;

import dev.sluice.MultipartException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Receives forms. Make one for the process, and close it at the end. Its defaults are safe for production.
 *
 * {@snippet file="WholeServer.java" region="server"}
 *
 * <p>Thread-safe.
 */
public final class Forms implements Closeable {
    private final FormOptions options;
    private final @Nullable SpoolDirectory own;
    private final ChunkPool chunks = new ChunkPool();

    private Forms(FormOptions options, @Nullable SpoolDirectory own) {
        this.options = withAllocator(options);
        this.own = own;
    }

    /** The default allocator of netty would leave its caches on all threads that read forms. */
    private static FormOptions withAllocator(FormOptions options) {
        return options.multipart().hasAllocator()
                ? options
                : options.toBuilder().allocator(ChunkPool.ALLOCATOR).build();
    }

    /**
     * {@return one that spools to the temporary directory of the system, and uses up to a quarter of the heap for all forms}
     *
     * @throws IOException if the spool cannot be made
     */
    public static Forms open() throws IOException {
        return open(Path.of(System.getProperty("java.io.tmpdir")), options -> options);
    }

    /**
     * {@return one with a spool in {@code directory}, and a quarter of the heap for all forms}
     *
     * @param change changes the other defaults
     * @throws IOException if the spool cannot be made
     */
    public static Forms open(Path directory, UnaryOperator<FormOptions.Builder> change) throws IOException {
        SpoolDirectory spool = SpoolDirectory.open(directory);
        try {
            MemoryBudget memory = MemoryBudget.of(Runtime.getRuntime().maxMemory() / 4);
            return new Forms(change.apply(FormOptions.builder(spool, memory)).build(), spool);
        } catch (RuntimeException e) {
            spool.close();
            throw e;
        }
    }

    /** {@return one with these options; their spool and budget stay the caller's} */
    public static Forms of(FormOptions options) {
        return new Forms(options, null);
    }

    /** {@return how forms are taken} */
    public FormOptions options() {
        return options;
    }

    /**
     * Reads a whole form; blocks while {@code in} does, and while a sink is not ready.
     *
     * @param in the body; read to its end, or until it is refused; not closed
     * @param contentType of the request; null, where it has none, is refused with 415
     * @return the form, to be closed by the caller
     * @throws MultipartException if the body is not acceptable, or there is no room for it now
     * @throws IOException of the stream, of a sink or of the disk, as it comes; nothing is left behind in any of these
     *     cases
     */
    public MultipartForm read(InputStream in, @Nullable String contentType) throws IOException {
        return read(in, contentType, change -> change);
    }

    /**
     * Reads a whole form by options of its own.
     *
     * @param in the body; read to its end, or until it is refused; not closed
     * @param contentType of the request; null, where it has none, is refused with 415
     * @param change changes the options for this form: a decider, limits, who is told of progress
     * @return the form, to be closed by the caller
     * @throws IOException as {@link #read(InputStream, String)}
     */
    public MultipartForm read(InputStream in, @Nullable String contentType, UnaryOperator<FormOptions.Builder> change)
            throws IOException {
        FormOptions changed = change.apply(options.toBuilder()).build();
        BlockingSource source = new BlockingSource(FormHead.of(contentType));
        return source.read(receive(source, changed), in, false);
    }

    /**
     * Reads a whole form, knowing more of the request than its {@code Content-Type}: a body that is too long is refused
     * unread, and of one that is refused later, up to {@link FormOptions#maxDrainBytes()} more are read and dropped.
     *
     * @param in the body; not closed
     * @param head what the head of the request says of the body
     * @param changed {@link #options()}, or made of them by {@link FormOptions#toBuilder()}
     * @return the form, to be closed by the caller
     * @throws IOException as {@link #read(InputStream, String)}
     */
    public MultipartForm read(InputStream in, FormHead head, FormOptions changed) throws IOException {
        BlockingSource source = new BlockingSource(head);
        return source.read(receive(source, changed), in, true);
    }

    /**
     * {@return an intake for a form whose bytes do not come from a stream. It waits for the first ones, or has already
     * ended, if the head of the request is refused}
     *
     * @param changed {@link #options()}, or made of them by {@link FormOptions#toBuilder()}
     */
    public FormIntake receive(FormSource source, FormOptions changed) {
        return FormIntake.open(source, changed == options ? options : withAllocator(changed), chunks);
    }

    /**
     * Reports to the {@linkplain FormOptions.Builder#metrics metrics} a form that an adapter rejected by the head of its request,
     * without {@link #receive}. Forms that were received report themselves.
     *
     * @param options of the form
     * @param reason why it was rejected, or null if the library has no reason for it
     */
    public static void reportRejected(FormOptions options, MultipartException.@Nullable Reason reason) {
        FormTally.rejected(
                options, reason, reason == null ? FormSummary.Outcome.REFUSED : FormSummary.Outcome.of(reason));
    }

    /**
     * Removes the spool that {@link #open} made; forms that are still there lose their files.
     *
     * @throws IOException if a file could not be deleted; the next spool there sweeps it
     */
    @Override
    public void close() throws IOException {
        chunks.close();
        if (own != null) {
            own.close();
        }
    }
}
