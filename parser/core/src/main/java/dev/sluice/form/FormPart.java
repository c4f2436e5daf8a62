package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHeaders;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.file.CopyOption;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One part of a {@link MultipartForm}: a field or a file, in memory or on disk. Thread-safe; its content dies with the
 * form unless it is moved or detached.
 */
public final class FormPart {
    private final PartHead head;
    private final TextRules rules;
    private final long size;
    private final AtomicReference<@Nullable PartContent> content;

    FormPart(PartHead head, PartContent content, TextRules rules) {
        this.head = head;
        this.rules = rules;
        this.size = content.size();
        this.content = new AtomicReference<>(content);
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

    /** {@return the name of the form field, as the peer sent it} */
    public String name() {
        return head.name();
    }

    /**
     * {@return the file name as the peer sent it, empty for a file input left empty, null for a field that is no file;
     * never a path}
     */
    public @Nullable String filename() {
        return head.filename();
    }

    /** {@return a base name that is safe to show and to store, possibly empty, or null} */
    public @Nullable String safeFilename() {
        return head.safeFilename();
    }

    /** {@return whether it has a file name, be it empty} */
    public boolean isFile() {
        return head.filename() != null;
    }

    /** {@return the {@code Content-Type} as the peer sent it, or null} */
    public @Nullable String contentType() {
        return head.contentType();
    }

    /** {@return the header fields} */
    public PartHeaders headers() {
        return head.headers();
    }

    /** {@return the size of its content, in bytes, a transfer encoding undone where the form does that} */
    public long size() {
        return size;
    }

    /** {@return whether its content is in memory, not in a file} */
    public boolean isInMemory() {
        return content().isInMemory();
    }

    private PartContent content() {
        PartContent here = content.get();
        if (here == null) {
            throw new IllegalStateException("the part was detached or its form is closed");
        }
        return here;
    }

    /**
     * {@return a new stream over its content; as often as wanted. It is closed with the form}
     *
     * @throws IOException if the file cannot be opened
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public InputStream inputStream() throws IOException {
        return content().inputStream();
    }

    /**
     * {@return the charset of its text: that of its {@code Content-Type}, else that of the {@code _charset_} field,
     * else UTF-8 (RFC 7578 section 4.5); UTF-8 where the platform does not know it}
     */
    public Charset charset() {
        return rules.charsetOf(headers().contentTypeParameter("charset"));
    }

    /**
     * {@return its content as text in {@link #charset()}, malformed bytes as U+FFFD}
     *
     * @throws MultipartException if it has more than {@link dev.sluice.Limits#maxFieldBytes()} bytes
     * @throws IOException if the file cannot be read
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public String text() throws IOException {
        long max = rules.maxFieldBytes();
        if (size > max) {
            long at = head.offset() + max;
            throw MultipartException.of(
                    Reason.FIELD_TOO_LARGE,
                    at,
                    head.index(),
                    "the size of a part read as text exceeds the limit of " + max + " bytes (maxFieldBytes; part "
                            + head.index() + ", offset " + at + ")");
        }
        return new String(content().toByteArray(), charset());
    }

    /**
     * Makes its content the file {@code target}; see {@link PartContent#moveTo}.
     *
     * @throws IOException if it cannot be moved; the part stays as it is
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public void moveTo(Path target, CopyOption... options) throws IOException {
        content().moveTo(target, options);
    }

    /**
     * {@return its content, which outlives the form: the caller closes or moves it. Memory is charged anew to the
     * budget of the process, streams that the part handed out are closed}
     *
     * <p>Of calls that race with each other, with {@link #moveTo} or with the end of the form one wins; the others
     * throw, and take nothing from the winner.
     *
     * @throws CapacityException if the budget has no room; the part stays as it is
     * @throws IllegalStateException once the part was moved or detached or its form is closed
     */
    public PartContent detach() throws CapacityException {
        PartContent detached = content().detach(); // this is what decides: the old content owns nothing from here on
        content.set(null);
        return detached;
    }

    /** Moves the content to a file if it may and is in memory. {@return whether that gave room} */
    boolean giveWay(SpoolDirectory spool) throws IOException {
        PartContent here = content();
        if (!here.mayGiveWay()) {
            return false;
        }
        here.spill(spool);
        return true;
    }

    /**
     * Gives back its memory or deletes its file now; closes its streams. What was moved or detached before is not
     * touched. Idempotent.
     *
     * @throws IOException if the file cannot be deleted; the spool tries again
     */
    public void delete() throws IOException {
        PartContent here = content.getAndSet(null);
        if (here != null) {
            here.close();
        }
    }

    /** {@return index and size: names come from the peer and are not for logs} */
    @Override
    public String toString() {
        return "FormPart[index=" + head.index() + ", size=" + size + "]";
    }
}
