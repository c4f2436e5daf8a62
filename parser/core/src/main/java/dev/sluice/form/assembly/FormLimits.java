package dev.sluice.form.assembly;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;

/**
 * The counts of parts, files and header bytes of one form, and their limits. Nested bodies are included, because the
 * decoder of a nested body counts only its own parts.
 */
final class FormLimits {
    final MultipartOptions options;
    private long parts;
    private long files;
    private long headerBytes;

    FormLimits(MultipartOptions options) {
        this.options = options;
    }

    /**
     * Counts a part.
     *
     * @throws MultipartException if a limit is exceeded
     */
    void count(PartHead head) throws MultipartException {
        parts++;
        files += head.filename() == null ? 0 : 1;
        headerBytes += head.headerBytes();
        check(parts, options.maxParts(), Reason.TOO_MANY_PARTS, head);
        check(files, options.maxFiles(), Reason.TOO_MANY_FILES, head);
        check(headerBytes, options.maxHeaderBytes(), Reason.HEADERS_TOO_LARGE, head);
    }

    private static void check(long value, long limit, Reason reason, PartHead head) throws MultipartException {
        if (value > limit) {
            throw head.because(reason).limit(limit).build();
        }
    }

    /**
     * {@return options for the nested body of {@code outer}, with the header bytes that remain for it} Its parts are counted by {@link
     * #count}. Call this before {@code outer} is counted.
     */
    MultipartOptions remaining(PartHead outer) {
        return options.toBuilder()
                .unlimitedBodyBytes()
                .maxHeaderBytes(Math.max(options.maxHeaderBytes() - headerBytes - outer.headerBytes(), 0))
                .build();
    }
}
