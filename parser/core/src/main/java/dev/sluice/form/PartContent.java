package dev.sluice.form;

import dev.sluice.form.storage.StoredContent;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The content of one part that was {@linkplain FormPart#detach() detached} from its form, in memory or in a file of a
 * {@link SpoolDirectory}. It outlives the form.
 *
 * <p>The owner closes the content, which releases its memory or deletes its file, and closes its streams. After {@link
 * #moveTo}, closing it is optional.
 *
 * <p>Thread-safe: {@link #close()} waits for a {@link #moveTo} in another thread.
 */
public final class PartContent implements Closeable {
    private final StoredContent content;

    PartContent(StoredContent content) {
        this.content = content;
    }

    /** {@return the size in bytes} */
    public long size() {
        return content.size();
    }

    /** {@return whether the content is in memory, not in a file} */
    public boolean isInMemory() {
        return content.isInMemory();
    }

    /**
     * {@return a new stream of all bytes} Several streams may be open at the same time. Closing a stream is optional:
     * {@link #close()} closes all of them.
     *
     * @throws IOException if the file cannot be opened
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
     */
    public InputStream inputStream() throws IOException {
        return content.inputStream();
    }

    /**
     * {@return all bytes, like {@link FormPart#bytes()}}
     *
     * @throws IOException if the file cannot be read, or the content does not fit into an array (2 GiB)
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
     */
    public byte[] bytes() throws IOException {
        return content.bytes();
    }

    /**
     * Writes all bytes to {@code out}, like {@link FormPart#transferTo}.
     *
     * @return the number of bytes written, {@link #size()}
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
     */
    public long transferTo(OutputStream out) throws IOException {
        return content.transferTo(out);
    }

    /**
     * Moves the content to the file {@code target}, atomically: no incomplete file is ever visible. The file belongs to
     * the application. Its permissions are {@code rw-------}.
     *
     * <p>Within one file system, a file is renamed. Otherwise, and from memory, the content is written to a temporary
     * file next to the target ({@code .sluice-*.part}), which is then renamed. Close all streams of the content first:
     * some systems cannot rename an open file, and a stream over content in memory fails after the move.
     *
     * @param target a path chosen by the application, never by the client
     * @param options none, or {@link StandardCopyOption#REPLACE_EXISTING}. Without it, an existing target is not
     *     replaced. On file systems without hard links, a target that another process creates at the same moment can be
     *     overwritten
     * @throws FileAlreadyExistsException if the target exists and must not be replaced; the content is unchanged
     * @throws IOException if the content cannot be moved; it is unchanged
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
     * @throws UnsupportedOperationException for any other option; the content is unchanged
     */
    public void moveTo(Path target, CopyOption... options) throws IOException {
        content.moveTo(target, replaces(options));
    }

    static boolean replaces(CopyOption[] options) {
        for (CopyOption option : options) {
            if (option != StandardCopyOption.REPLACE_EXISTING) {
                throw new UnsupportedOperationException("only REPLACE_EXISTING is supported");
            }
        }
        return options.length > 0;
    }

    /** Releases the memory or deletes the file, unless it was moved, and closes all streams. Idempotent. */
    @Override
    public void close() {
        content.close();
    }
}
