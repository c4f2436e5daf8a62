package dev.sluice.samples.upload;

import dev.sluice.ContentDisposition;
import dev.sluice.MultipartDecoder;
import dev.sluice.PartHeaders;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a part before its body: a snapshot, so that it can go to another thread.
 *
 * @param index 0-based
 * @param name the form field's name
 * @param filename as the client sent it: to be shown, never to be used as a path
 * @param safeFilename a base name that is safe to store, empty when nothing safe remains, null without a file name
 * @param contentType of the part
 * @param headers all of them, in order
 * @param offset of the first byte of the part's body
 */
record PartHead(
        int index,
        @Nullable String name,
        @Nullable String filename,
        @Nullable String safeFilename,
        @Nullable String contentType,
        PartHeaders headers,
        long offset) {

    static PartHead of(MultipartDecoder decoder) {
        PartHeaders headers = decoder.headers();
        ContentDisposition disposition = headers.contentDisposition();
        String filename = decoder.filename();
        String safeFilename = filename == null || disposition == null ? null : disposition.safeFilename();
        return new PartHead(
                decoder.partIndex(),
                decoder.name(),
                filename,
                filename != null && safeFilename == null ? "" : safeFilename,
                decoder.contentType(),
                headers,
                decoder.partOffset());
    }
}
