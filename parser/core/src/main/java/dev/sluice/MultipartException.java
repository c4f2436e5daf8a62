package dev.sluice;

import java.io.IOException;

/**
 * The body, or its {@code Content-Type}, is not acceptable: the peer's fault.
 *
 * <p>Misuse of the API is an {@link IllegalStateException} or {@link IllegalArgumentException}; trouble of the
 * environment (disk full, connection reset) is the original {@link IOException}, untouched.
 *
 * <p>The message names the setting, its value and where it was exceeded, and never quotes what the peer sent beyond 16
 * escaped bytes.
 *
 * <p>A body fails once: a decoder or reader that has failed throws the same instance from each further call, with the
 * stack trace of the first. Whoever collects failures has to compare before {@link Throwable#addSuppressed}, which
 * takes no throwable for itself.
 */
public final class MultipartException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The kinds of blame a server tells apart. */
    public enum Kind {
        /** The bytes break the grammar, or are of a type that is not served. */
        MALFORMED,
        /** The body ended too early. */
        TRUNCATED,
        /** More than a limit allows. */
        LIMIT_EXCEEDED
    }

    /** Why. Stable: a constant is never renamed or given another meaning. */
    public enum Reason {
        /** The {@code Content-Type} has no {@code boundary} parameter. */
        MISSING_BOUNDARY(Kind.MALFORMED),
        /** The {@code boundary} parameter is not one that can be used (RFC 2046 section 5.1.1). */
        INVALID_BOUNDARY(Kind.MALFORMED),
        /** The {@code Content-Type} has more than one {@code boundary} parameter. */
        DUPLICATE_BOUNDARY(Kind.MALFORMED),
        /** Not a {@code multipart/*} type, or a nested one where that is refused. */
        UNSUPPORTED_MEDIA_TYPE(Kind.MALFORMED),
        /** The body ended before the close-delimiter. */
        TRUNCATED(Kind.TRUNCATED),
        /** Text before the first delimiter. */
        PREAMBLE(Kind.MALFORMED),
        /** Text after the close-delimiter. */
        EPILOGUE(Kind.MALFORMED),
        /** More text before the first delimiter than {@link Limits#maxPreambleBytes()}. */
        PREAMBLE_TOO_LARGE(Kind.LIMIT_EXCEEDED),
        /** More text after the close-delimiter than {@link Limits#maxEpilogueBytes()}. */
        EPILOGUE_TOO_LARGE(Kind.LIMIT_EXCEEDED),
        /** A delimiter followed by something that may not follow it. */
        MALFORMED_DELIMITER(Kind.MALFORMED),
        /** A header section that breaks the grammar. */
        MALFORMED_HEADER(Kind.MALFORMED),
        /** A header field that may occur once occurs twice. */
        DUPLICATE_HEADER(Kind.MALFORMED),
        /** A header section larger than {@link Limits#maxHeaderBytesPerPart()}. */
        HEADER_SECTION_TOO_LARGE(Kind.LIMIT_EXCEEDED),
        /** More header fields in a part than {@link Limits#maxHeadersPerPart()}. */
        TOO_MANY_HEADERS(Kind.LIMIT_EXCEEDED),
        /** All header sections together larger than {@link Limits#maxHeaderBytes()}. */
        HEADERS_TOO_LARGE(Kind.LIMIT_EXCEEDED),
        /** A form-data part without {@code Content-Disposition} (RFC 7578 section 4.2). */
        MISSING_CONTENT_DISPOSITION(Kind.MALFORMED),
        /** A {@code Content-Disposition} that breaks the grammar or has more than one reading. */
        MALFORMED_CONTENT_DISPOSITION(Kind.MALFORMED),
        /** A {@code Content-Disposition} without a {@code name} parameter (RFC 7578 section 4.2). */
        MISSING_NAME(Kind.MALFORMED),
        /** A {@code Content-Disposition} with one parameter twice. */
        DUPLICATE_PARAMETER(Kind.MALFORMED),
        /** A {@code Content-Transfer-Encoding} that is refused. */
        UNSUPPORTED_TRANSFER_ENCODING(Kind.MALFORMED),
        /** A part body that its transfer encoding cannot be undone of, where that is done (RFC 2045 section 6.8). */
        MALFORMED_TRANSFER_ENCODING(Kind.MALFORMED),
        /** More parts than {@link Limits#maxParts()}. */
        TOO_MANY_PARTS(Kind.LIMIT_EXCEEDED),
        /** More parts with a file name than {@link Limits#maxFiles()}. */
        TOO_MANY_FILES(Kind.LIMIT_EXCEEDED),
        /** A part body larger than {@link Limits#maxPartBytes()}. */
        PART_TOO_LARGE(Kind.LIMIT_EXCEEDED),
        /** A multipart body larger than {@link Limits#maxBodyBytes()}. */
        BODY_TOO_LARGE(Kind.LIMIT_EXCEEDED),
        /** A part read into memory as text larger than {@link Limits#maxFieldBytes()}. */
        FIELD_TOO_LARGE(Kind.LIMIT_EXCEEDED),
        /** More held in memory for one form than {@link dev.sluice.form.FormOptions#maxInMemoryBytes()}. */
        IN_MEMORY_TOO_LARGE(Kind.LIMIT_EXCEEDED);

        private final Kind kind;

        Reason(Kind kind) {
            this.kind = kind;
        }

        /** {@return the kind this reason belongs to} */
        public Kind kind() {
            return kind;
        }
    }

    private final Reason reason;
    private final long offset;
    private final int partIndex;

    MultipartException(Reason reason, long offset, int partIndex, String message) {
        super(message);
        this.reason = reason;
        this.offset = offset;
        this.partIndex = partIndex;
    }

    /**
     * {@return an exception for a face on top of the decoder, which has limits of its own}
     *
     * @param offset as {@link #offset()}
     * @param partIndex as {@link #partIndex()}
     * @param message names the setting and its value, and quotes nothing of what the peer sent
     */
    public static MultipartException of(Reason reason, long offset, int partIndex, String message) {
        return new MultipartException(reason, offset, partIndex, message);
    }

    /** {@return why} */
    public Reason reason() {
        return reason;
    }

    /** {@return the kind of the {@linkplain #reason() reason}} */
    public Kind kind() {
        return reason.kind();
    }

    /** {@return the HTTP status code that fits: 413 beyond a limit, 415 for a media type that is not served, else 400} */
    public int httpStatus() {
        if (reason == Reason.UNSUPPORTED_MEDIA_TYPE) {
            return 415;
        }
        return kind() == Kind.LIMIT_EXCEEDED ? 413 : 400;
    }

    /**
     * {@return the offset of the offending byte from the start of the multipart body (0-based; the size of the body where
     * it was truncated), or -1 where the fault is in the {@code Content-Type}, or was found by a sink that does not know}
     */
    public long offset() {
        return offset;
    }

    /** {@return the 0-based index of the part in which the fault is, or -1 outside of any part} */
    public int partIndex() {
        return partIndex;
    }
}
