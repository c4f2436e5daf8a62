package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.file.CopyOption;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One part of a {@link MultipartForm}: a field or a file, in memory or on disk. Thread-safe; its content dies with the
 * form unless it is moved or detached.
 */
public final class FormPart {
    private final PartHead head;
    private final TextRules rules;
    final PartContent content;

    FormPart(PartHead head, PartContent content, TextRules rules) {
        this.head = head;
        this.rules = rules;
        this.content = content;
    }

    /**
     * {@return what was known of it at its headers}
     *
     * <p>Not a key: the parts of an expanded nested body all have the {@linkplain PartHead#index() index} of the part
     * they came in. {@link PartHead#offset()} differs.
     */
    public PartHead head() {
        return head;
    }

    /** {@return the name of the form field, as the client sent it} */
    public String name() {
        return Objects.requireNonNull(head.name(), "form-data parts have names");
    }

    /**
     * {@return the file name as the client sent it, empty for a file input left empty, null for a field that is no file;
     * never a path}
     */
    public @Nullable String filename() {
        return head.filename();
    }

    /**
     * {@return a base name that is safe to show and to store; empty for a file input left empty, or if no character is left;
     * null for a field that is not a file}
     *
     * <p>Check for an empty name before storing a file: {@code directory.resolve("")} is the directory itself.
     */
    public @Nullable String safeFilename() {
        return head.safeFilename();
    }

    /** {@return whether it has a file name, be it empty} */
    public boolean isFile() {
        return head.filename() != null;
    }

    /** {@return whether it is a file input for which no file was chosen: browsers send an empty file name and no content} */
    boolean wasLeftEmpty() {
        return "".equals(head.filename()) && size() == 0;
    }

    /** {@return the {@code Content-Type} as the client sent it, or null} */
    public @Nullable String contentType() {
        return head.contentType();
    }

    /** {@return the size of its content, in bytes, a transfer encoding undone where the form does that} */
    public long size() {
        return content.size();
    }

    /** {@return whether its content is in memory, not in a file} */
    public boolean isInMemory() {
        return content.isInMemory();
    }

    /**
     * {@return a new stream over its content; as often as wanted. It is closed with the form}
     *
     * @throws IOException if the file cannot be opened
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public InputStream inputStream() throws IOException {
        return content.inputStream();
    }

    /**
     * {@return the charset of its text: that of its {@code Content-Type}, else that of the {@code _charset_} field,
     * else UTF-8 (RFC 7578 section 4.5); UTF-8 where the platform does not know it}
     */
    public Charset charset() {
        return rules.charsetOf(head.contentTypeParameter("charset"));
    }

    /**
     * {@return its content as text in {@link #charset()}, malformed bytes as U+FFFD}
     *
     * @throws MultipartException if it has more than {@link dev.sluice.MultipartOptions#maxFieldBytes()} bytes
     * @throws IOException if the file cannot be read
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public String text() throws IOException {
        long max = rules.maxFieldBytes;
        if (size() > max) {
            throw tooLarge(head, max);
        }
        return new String(content.bytes(), charset());
    }

    static MultipartException tooLarge(PartHead head, long max) {
        return head.because(MultipartException.Reason.FIELD_TOO_LARGE)
                .limit(max)
                .at(head.offset() + max)
                .build();
    }

    /**
     * Makes its content the file {@code target}, which is there in full or not at all, and no longer belongs to the form; see
     * {@link PartContent#moveTo}.
     *
     * @param target a path chosen by the application, never by the client
     * @param options none: an existing target is refused; or {@link java.nio.file.StandardCopyOption#REPLACE_EXISTING}
     * @throws IOException if it cannot be moved; the part stays as it is
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public void moveTo(Path target, CopyOption... options) throws IOException {
        content.moveTo(target, options);
    }

    /**
     * {@return its content, which outlives the form: the caller closes or moves it. Memory is charged anew to the
     * budget of the process, streams that the part handed out are closed}
     *
     * <p>Of calls that race with each other, with {@link #moveTo} or with the end of the form one wins; the others
     * throw, and take nothing from the winner.
     *
     * @throws MultipartException if the budget has no room; the part stays as it is
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public PartContent detach() throws MultipartException {
        return content.detach(); // this is what decides: the old content owns nothing from here on
    }

    /**
     * Gives back its memory or deletes its file now; closes its streams. What was moved or detached before is not
     * touched. Idempotent.
     */
    public void delete() {
        content.close();
    }

    /** {@return index and size: names come from the client and are not for logs} */
    @Override
    public String toString() {
        return "FormPart[index=" + head.index() + ", size=" + size() + "]";
    }
}
