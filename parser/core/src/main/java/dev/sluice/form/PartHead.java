package dev.sluice.form;

import dev.sluice.ContentDisposition;
import dev.sluice.PartHeaders;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a part when its headers have been read. Immutable.
 *
 * @param index 0-based index of the part in the body; the parts of a nested body share the index of the part they are
 *     in, so where nested bodies are expanded several {@link FormPart}s may have the same one
 * @param offset where the part's body starts, in bytes from the start of the multipart body
 * @param name the name of the form field, as the peer sent it; compare it byte by byte
 * @param filename the file name as the peer sent it, empty for a file input left empty, null for a field that is no
 *     file; never a path
 * @param headers the header fields
 */
public record PartHead(
        int index, long offset, String name, @Nullable String filename, PartHeaders headers) {
    /**
     * {@return a base name that is safe to show and to store, see {@link ContentDisposition#safeFilename()}, or null}
     */
    public @Nullable String safeFilename() {
        ContentDisposition disposition = filename == null ? null : headers.contentDisposition();
        return disposition == null ? null : disposition.safeFilename();
    }

    /** {@return the {@code Content-Type} as the peer sent it, or null} */
    public @Nullable String contentType() {
        return headers.contentType();
    }

    /** {@return index and offset: names come from the peer and are not for logs} */
    @Override
    public String toString() {
        return "PartHead[index=" + index + ", offset=" + offset + "]";
    }
}
