package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.form.assembly.FormReporter;
import dev.sluice.form.flow.ChunkPool;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The entry point for receiving forms. Create one per process, and close it at shutdown. The defaults suit production.
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

    /** Avoids Netty's default allocator, which would leave caches on all threads that read forms. */
    private static FormOptions withAllocator(FormOptions options) {
        return options.multipart().hasAllocator()
                ? options
                : options.toBuilder().allocator(ChunkPool.ALLOCATOR).build();
    }

    /**
     * {@return a new instance that stores large parts in the system's temporary directory} All its forms together charge at most a
     * quarter of the heap to their {@link MemoryBudget}, which lists what is charged.
     *
     * @throws IOException if the spool directory cannot be created
     */
    public static Forms open() throws IOException {
        return open(Path.of(System.getProperty("java.io.tmpdir")), options -> options);
    }

    /**
     * {@return a new instance that stores large parts in {@code directory}} All its forms together charge at most a quarter of the heap
     * to their {@link MemoryBudget}, which lists what is charged.
     *
     * @param directory the parent of the spool directory; created if it is missing
     * @param change changes the default options
     * @throws IOException if the spool directory cannot be created
     */
    public static Forms open(Path directory, UnaryOperator<FormOptions.Builder> change) throws IOException {
        SpoolDirectory spool = SpoolDirectory.open(directory);
        try {
            MemoryBudget memory = MemoryBudget.parse(null);
            return new Forms(change.apply(FormOptions.builder(spool, memory)).build(), spool);
        } catch (Throwable e) {
            try (spool) { // adds an exception of close() to e
                throw e;
            }
        }
    }

    /** {@return a new instance with these options} The caller closes their spool; {@link #close()} does not. */
    public static Forms of(FormOptions options) {
        return new Forms(options, null);
    }

    /** {@return the options for all forms that do not have their own} */
    public FormOptions options() {
        return options;
    }

    /**
     * Reads a whole form. Blocks while {@code in} blocks, and while a sink is not ready. If the body is rejected, up to {@link
     * FormOptions#maxDrainBytes()} more bytes of it are read and discarded, because many clients read the response only after they have
     * sent the body. Nothing is discarded if the declared length shows that more bytes than this would remain.
     *
     * @param in the body. It is read to its end, or as far as described above, and not closed
     * @param contentType the {@code Content-Type} of the request; null is rejected with 415
     * @return the form, which the caller closes
     * @throws MultipartException if the body is malformed or exceeds a limit, or the server has no room for it
     * @throws IOException the original exception, if the stream, a sink or the disk fails. After any exception, the form holds no memory
     *     and no files, and its sinks are closed
     */
    public MultipartForm read(InputStream in, @Nullable String contentType) throws IOException {
        return read(in, contentType, -1);
    }

    /**
     * Reads a whole form like {@link #read(InputStream, String)}. If the declared length exceeds the limit, the form is
     * rejected before its body is decoded.
     *
     * @param contentLength the {@code Content-Length} of the request, in bytes; negative if it is unknown. It does not limit
     *     what is read from {@code in}
     */
    public MultipartForm read(InputStream in, @Nullable String contentType, long contentLength) throws IOException {
        return read(in, new FormHead(contentType, contentLength, false), options);
    }

    /**
     * Reads a whole form like {@link #read(InputStream, String)}, with changed options. If the length of the body is known, use {@link
     * #read(InputStream, FormHead, FormOptions)}.
     *
     * @param change changes the options for this form, for example its decider, a limit or its progress listener
     */
    public MultipartForm read(InputStream in, @Nullable String contentType, UnaryOperator<FormOptions.Builder> change)
            throws IOException {
        return read(
                in, FormHead.of(contentType), change.apply(options.toBuilder()).build());
    }

    /**
     * Reads a whole form like {@link #read(InputStream, String)}, with all headers of its request that describe the body, and
     * with the given options. If the declared length exceeds the limit, the form is rejected before its body is decoded.
     *
     * @param changed {@link #options()}, or options derived from them with {@link FormOptions#toBuilder()}
     */
    public MultipartForm read(InputStream in, FormHead head, FormOptions changed) throws IOException {
        BlockingSource source = new BlockingSource(head, changed);
        return source.read(receive(source, changed), in);
    }

    /**
     * {@return a new intake for a form whose bytes do not come from a stream} It is ready for the first bytes, or has
     * already failed if the request headers were rejected.
     *
     * @param source delivers the bytes
     * @param changed {@link #options()}, or options derived from them with {@link FormOptions#toBuilder()}
     */
    public FormIntake receive(FormSource source, FormOptions changed) {
        return FormIntake.open(source, changed == options ? options : withAllocator(changed), chunks);
    }

    /**
     * Reports to the {@linkplain FormOptions.Builder#metrics metrics} that an adapter has rejected a form because of
     * the request headers, without calling {@link #receive}. Received forms are reported automatically.
     *
     * @param options the options of the form
     * @param head the head of the request
     * @param failure the exception that rejected the form, or null if the adapter or the application rejected it
     *     without one; the outcome is then {@code REFUSED}
     */
    public static void reportRejected(FormOptions options, FormHead head, @Nullable MultipartException failure) {
        FormReporter.reportRejected(options.context.metrics(), head, failure);
    }

    /**
     * Deletes the spool directory that {@link #open} created. Forms that are still open lose their files.
     *
     * @throws IOException if a file could not be deleted; another call, or the next process with a spool in the same directory, tries
     *     again
     */
    @Override
    public void close() throws IOException {
        chunks.close();
        if (own != null) {
            own.close();
        }
    }

    /**
     * A source that reads a stream on the calling thread. While this thread waits, it runs the work that other threads
     * have scheduled.
     */
    private static final class BlockingSource implements FormSource {
        private final FormHead head;
        private final long paceNanos;
        private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

        BlockingSource(FormHead head, FormOptions options) {
            this.head = head;
            this.paceNanos = options.paceCheckNanos();
        }

        @Override
        public FormHead head() {
            return head;
        }

        @Override
        public void wanted() {
            tasks.add(() -> {});
        }

        @Override
        public void resume(Runnable work) {
            tasks.add(work);
        }

        /** {@return the form} After a rejection, the demand of the intake covers the bytes to discard. */
        MultipartForm read(FormIntake intake, InputStream in) throws IOException {
            try {
                while (awaitDemand(intake) && intake.read(in, true) >= 0) {}
                while (!intake.completion.isDone()) {
                    await(intake);
                }
            } catch (Throwable e) {
                intake.abort(e); // an earlier failure takes precedence over an error while discarding
            }
            return result(intake);
        }

        private boolean awaitDemand(FormIntake intake) throws IOException {
            while (intake.demand() == 0 && !intake.isOver()) {
                await(intake);
            }
            return intake.demand() > 0;
        }

        private void await(FormIntake intake) throws IOException {
            try {
                Runnable task = tasks.poll(paceNanos, TimeUnit.NANOSECONDS);
                if (task != null) {
                    task.run();
                } else {
                    intake.checkPace(System.nanoTime());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting for a sink");
            }
        }

        /**
         * {@return the form} If an abort finds a commit in progress, this method waits for the commit, even if this thread is interrupted.
         */
        private MultipartForm result(FormIntake intake) throws IOException {
            boolean interrupted = false;
            while (!intake.completion.isDone()) {
                try {
                    tasks.take().run();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            try {
                return intake.completion.join();
            } catch (CompletionException e) {
                throw Readiness.thrown(Objects.requireNonNull(e.getCause()));
            }
        }
    }
}
