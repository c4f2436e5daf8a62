package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import dev.sluice.form.assembly.TextRules;
import dev.sluice.form.storage.StoredContent;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.file.CopyOption;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A field or file of a {@link MultipartForm}, whose content is in memory or in a temporary file.
 *
 * <p>The content is deleted with the form, unless it was {@linkplain #moveTo moved} or {@linkplain #detach detached}.
 * After that, or once the form is closed, methods that read or move the content throw {@link IllegalStateException}.
 * The client chose the names and types: do not use them as paths. Thread-safe.
 */
public final class FormPart {
    private final PartHead head;
    private final StoredContent content;
    private final TextRules rules;

    FormPart(StoredContent content, TextRules rules) {
        this.head = content.head();
        this.content = content;
        this.rules = rules;
    }

    /**
     * {@return the headers of the part, and its position in the body}
     *
     * <p>The {@linkplain PartHead#index() index} is not unique: all parts of an expanded nested body have the index of the part
     * that contains it. The {@linkplain PartHead#offset() offset} is unique.
     */
    public PartHead head() {
        return head;
    }

    /** {@return the name of the form field, as sent by the client} */
    public String name() {
        return Objects.requireNonNull(head.name(), "the part has no name, but every part of a form must have one");
    }

    /**
     * {@return the file name as sent by the client, or null for a field} It is empty if the user left a file input empty. It is
     * not safe to use as a path: see {@link #safeFilename()}.
     */
    public @Nullable String filename() {
        return head.filename();
    }

    /**
     * {@return the file name without directories and special characters, safe to show and to store; empty if no
     * character remains; null for a field}
     *
     * <p>Check for an empty name before storing a file: {@code directory.resolve("")} is the directory itself.
     */
    public @Nullable String safeFilename() {
        return head.safeFilename();
    }

    /** {@return whether the part has a file name, which may be empty} */
    public boolean isFile() {
        return head.filename() != null;
    }

    /**
     * {@return whether the user left this input empty: the part has no content, and no file name or an empty one}
     *
     * <p>Browsers send an empty text input as a field without text, and an empty file input as a part with an empty file name.
     * A file that has a name is not empty in this sense, even if its {@link #size()} is 0.
     */
    public boolean isEmpty() {
        String filename = head.filename();
        return (filename == null || filename.isEmpty()) && size() == 0;
    }

    /** {@return the {@code Content-Type} as sent by the client, or null} */
    public @Nullable String contentType() {
        return head.contentType();
    }

    /** {@return the size of the content in bytes, after transfer decoding if the form decodes transfer encodings} */
    public long size() {
        return content.size();
    }

    /** {@return whether the content is in memory, not in a file} */
    public boolean isInMemory() {
        return content.isInMemory();
    }

    /**
     * {@return a new stream of the content} Several streams may be open at the same time. Closing the form closes them
     * as well.
     *
     * @throws IOException if the file cannot be opened
     * @throws IllegalStateException if the part was moved, detached or deleted
     */
    public InputStream inputStream() throws IOException {
        return content.inputStream();
    }

    /**
     * {@return the content, in a new array of {@link #size()} bytes} The array is not charged to any limit. For content
     * that may be large, check the size first, or use {@link #transferTo} or {@link #inputStream()}.
     *
     * @throws IOException if the file cannot be read, or the content does not fit into an array (2 GiB)
     * @throws IllegalStateException if the part was moved, detached or deleted
     */
    public byte[] bytes() throws IOException {
        return content.bytes();
    }

    /**
     * Writes the content to {@code out}, which is neither flushed nor closed.
     *
     * @return the number of bytes written, {@link #size()}
     * @throws IOException if the file cannot be read or {@code out} cannot be written; some bytes may have been written
     * @throws IllegalStateException if the part was moved, detached or deleted
     */
    public long transferTo(OutputStream out) throws IOException {
        return content.transferTo(out);
    }

    /**
     * {@return the charset of the text} It is the charset in the part's {@code Content-Type}, otherwise the charset named by the
     * {@code _charset_} field of the form, otherwise UTF-8 (RFC 7578 section 4.5). A charset that Java does not support is
     * replaced by UTF-8.
     */
    public Charset charset() {
        return rules.charsetOf(head);
    }

    /**
     * {@return the content as text in {@link #charset()}, with malformed bytes replaced by U+FFFD}
     *
     * @throws MultipartException if the content has more than {@link dev.sluice.MultipartOptions#maxFieldBytes()} bytes (413)
     * @throws IOException if the file cannot be read
     * @throws IllegalStateException if the part was moved, detached or deleted
     */
    public String text() throws IOException {
        return rules.text(content);
    }

    /**
     * Moves the content to the file {@code target}, atomically, like {@link PartContent#moveTo}. The file belongs to the application
     * and outlives the form. If the content cannot be moved, the part is unchanged.
     *
     * @param target a path chosen by the application, never by the client
     * @param options none, or {@link java.nio.file.StandardCopyOption#REPLACE_EXISTING}
     * @throws java.nio.file.FileAlreadyExistsException if the target exists and must not be replaced
     * @throws IllegalStateException if the part was moved, detached or deleted
     */
    public void moveTo(Path target, CopyOption... options) throws IOException {
        content.moveTo(target, PartContent.replaces(options));
    }

    /**
     * Copies the content to the file {@code target}, atomically. As after {@link PartContent#moveTo}, the file belongs to the application,
     * and its permissions are {@code rw-------}. The part remains available.
     *
     * @param target a path chosen by the application, never by the client
     * @param options none, or {@link java.nio.file.StandardCopyOption#REPLACE_EXISTING}
     * @throws java.nio.file.FileAlreadyExistsException if the target exists and must not be replaced
     * @throws IOException if the content cannot be copied; the target is unchanged
     * @throws IllegalStateException if the part was moved, detached or deleted
     * @throws UnsupportedOperationException for any other option
     */
    public void copyTo(Path target, CopyOption... options) throws IOException {
        content.copyTo(target, PartContent.replaces(options));
    }

    /**
     * {@return the content, <em>transferred</em> to the caller, who must close or move it} It outlives the form. Its
     * memory is still charged to the {@link MemoryBudget}, but no longer to the form. Streams of the part are closed.
     *
     * <p>If several threads call this method, {@link #moveTo} or {@link MultipartForm#close} at the same time, one of
     * the calls succeeds. The others have no effect, and {@code detach} and {@code moveTo} then throw.
     *
     * @throws MultipartException if the budget is exhausted (503); the part is unchanged. Content in memory is charged to its new owner
     *     before the form releases it, so the budget needs room for it twice
     * @throws IllegalStateException if the part was moved, detached or deleted
     */
    public PartContent detach() throws MultipartException {
        return new PartContent(content.detach());
    }

    /** Deletes the content and closes its streams. Has no effect on content that was moved or detached. Idempotent. */
    public void delete() {
        content.close();
    }

    /** {@return the index and the size, but not the name, because client input does not belong in logs} */
    @Override
    public String toString() {
        return "FormPart[index=" + head.index() + ", size=" + size() + "]";
    }
}
