package dev.sluice;

import dev.sluice.header.SafeFilename;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The rejection of a body: the client is at fault, the server has no capacity, or the application rejected a part. {@link #kind()}
 * distinguishes these cases, and {@link #httpStatus()} is the status for the response.
 *
 * <p>Incorrect use of the API causes an {@link IllegalStateException} or {@link IllegalArgumentException}. Failures of the environment
 * (disk failure, connection reset) and of sinks are reported by the original {@link IOException}, unchanged.
 *
 * <p>The message has the format {@code <what is wrong> (<setting>; part 3 "title", offset 91230)}. Unknown details are left out. The
 * message quotes at most 64 characters of a field name and 16 characters of other input, escaped.
 *
 * <p>A decoder or reader that has failed throws the same instance from every later call, with the stack trace of the first. {@link
 * Throwable#addSuppressed} throws if an exception is added to itself, so compare the two exceptions before you call it.
 */
public final class MultipartException extends IOException {
    private static final long serialVersionUID = 2L;
    private static final int MAX_SHOWN_NAME = 64;
    private static final int MAX_SHOWN_INPUT = 16;

    /** The kinds of rejection that servers and clients treat differently. */
    public enum Kind {
        /** The body violates the grammar, or its type is not supported. */
        MALFORMED(400),
        /** The body ends too early. */
        TRUNCATED(400),
        /** The body exceeds a limit. */
        LIMIT_EXCEEDED(413),
        /** The application rejected the form. */
        REFUSED(400),
        /** The server has no capacity at the moment. The client may try again later. */
        OVERLOADED(503),
        /** The client sends too slowly. */
        TOO_SLOW(408);

        private final int httpStatus;

        Kind(int httpStatus) {
            this.httpStatus = httpStatus;
        }
    }

    /** The reason for a rejection. Stable: constants are never renamed, and their meaning does not change. */
    public enum Reason {
        MISSING_BOUNDARY("the Content-Type has no boundary parameter"),
        /** The {@code boundary} parameter cannot be used (RFC 2046 section 5.1.1). */
        INVALID_BOUNDARY("the boundary cannot be used"),
        DUPLICATE_BOUNDARY("the Content-Type has more than one boundary parameter"),
        /** The type is not {@code multipart/form-data}, or a part has a multipart type and the preset rejects that. */
        UNSUPPORTED_MEDIA_TYPE("the Content-Type is not multipart/form-data"),
        /** A charset is unknown to the platform, or not a superset of US-ASCII. */
        UNKNOWN_CHARSET("the charset is unknown, or not a superset of US-ASCII"),
        TRUNCATED(Kind.TRUNCATED, null, "the body ends before its close-delimiter"),
        PREAMBLE("there is text before the first delimiter"),
        EPILOGUE("there is text after the close-delimiter"),
        PREAMBLE_TOO_LARGE(Setting.MAX_PREAMBLE_BYTES, "the size of the preamble"),
        EPILOGUE_TOO_LARGE(Setting.MAX_EPILOGUE_BYTES, "the size of the epilogue"),
        MALFORMED_DELIMITER("a delimiter is malformed"),
        MALFORMED_HEADER("a header section is malformed"),
        DUPLICATE_HEADER("a header field occurs twice"),
        HEADER_SECTION_TOO_LARGE(Setting.MAX_HEADER_BYTES_PER_PART, "the size of the part header section"),
        TOO_MANY_HEADERS(Setting.MAX_HEADERS_PER_PART, "the count of header fields of a part"),
        HEADERS_TOO_LARGE(Setting.MAX_HEADER_BYTES, "the size of all part header sections"),
        /** A form-data part without {@code Content-Disposition} (RFC 7578 section 4.2). */
        MISSING_CONTENT_DISPOSITION("the part has no Content-Disposition"),
        MALFORMED_CONTENT_DISPOSITION("the Content-Disposition is malformed or ambiguous"),
        /** A {@code Content-Disposition} without a {@code name} parameter (RFC 7578 section 4.2). */
        MISSING_NAME("the Content-Disposition has no name"),
        DUPLICATE_PARAMETER("a parameter of the Content-Disposition occurs twice"),
        UNSUPPORTED_TRANSFER_ENCODING("the Content-Transfer-Encoding is not 7bit, 8bit or binary"),
        /**
         * The body of a part is malformed in a transfer encoding that the options decode (RFC 2045 section 6.8), or the body of the request
         * in its chunks or compression.
         */
        MALFORMED_TRANSFER_ENCODING("the bytes of a part are not valid in its Content-Transfer-Encoding"),
        TOO_MANY_PARTS(Setting.MAX_PARTS, "the count of parts"),
        TOO_MANY_FILES(Setting.MAX_FILES, "the count of parts with a file name"),
        /** A part body is larger than {@link MultipartOptions#maxPartBytes()} or than its sink accepts. */
        PART_TOO_LARGE(Setting.MAX_PART_BYTES, "the size of the part body"),
        BODY_TOO_LARGE(Setting.MAX_BODY_BYTES, "the size of the multipart body"),
        FIELD_TOO_LARGE(Setting.MAX_FIELD_BYTES, "the size of a part as text or in memory"),
        IN_MEMORY_TOO_LARGE(Setting.MAX_IN_MEMORY_BYTES, "the size of the form in memory"),
        /** Too many parts are stored in files, because of their size or because of a lack of memory. */
        TOO_MANY_FILES_ON_DISK(Setting.MAX_FILES_ON_DISK, "the count of files of the form on disk"),
        /** The {@link dev.sluice.form.MemoryBudget} is used up by all forms of the process. */
        MEMORY_FULL(
                Kind.OVERLOADED,
                Setting.MEMORY_BUDGET_BYTES,
                "the memory for uploads is used up: all uploads together may hold # bytes"),
        /** The quota of the {@link dev.sluice.form.SpoolDirectory} is used up. */
        SPOOL_FULL(
                Kind.OVERLOADED,
                Setting.MAX_SPOOL_BYTES,
                "the size of all uploads on disk exceeds the limit of # bytes"),
        /** The {@link dev.sluice.form.SpoolDirectory} has the maximum number of files. */
        TOO_MANY_SPOOL_FILES(
                Kind.OVERLOADED,
                Setting.MAX_SPOOL_FILES,
                "the count of files of all uploads on disk exceeds the limit of #"),
        /** The upload would leave less free space on the disk than the {@link dev.sluice.form.SpoolDirectory} keeps free. */
        DISK_FULL(Kind.OVERLOADED, Setting.KEEP_FREE_BYTES, "the upload would leave less than # bytes free on disk"),
        /** The application rejected a part, and with it the form. The application chose the status. */
        PART_REFUSED(Kind.REFUSED, null, "the application refuses the part"),
        /** The form is complete, but lacks a field or file that the application requires. */
        MISSING_FIELD(Kind.REFUSED, null, "a required field is missing"),
        /** A sink did not become ready within {@link dev.sluice.form.FormOptions#maxSinkWait()}. */
        SINK_STALLED(Kind.OVERLOADED, Setting.MAX_SINK_WAIT, "the upload could not be stored in time"),
        /** A service or thread that the upload needs is not available, such as a malware scanner, an object store or an executor. */
        UNAVAILABLE(Kind.OVERLOADED, null, "a service that the upload needs is not available"),
        /** The client is slower than {@link dev.sluice.form.FormOptions#minBytesPerSecond()}. */
        CLIENT_TOO_SLOW(
                Kind.TOO_SLOW,
                Setting.MIN_BYTES_PER_SECOND,
                "the client is slower than the minimum rate of # bytes per second");

        private final Kind kind;
        private final @Nullable Setting setting;
        private final String sentence;

        Reason(String sentence) {
            this(Kind.MALFORMED, null, sentence);
        }

        Reason(Setting limit, String what) {
            this(
                    Kind.LIMIT_EXCEEDED,
                    limit,
                    what + " exceeds the limit of #" + (limit.kind() == Setting.Kind.BYTES ? " bytes" : ""));
        }

        /** @param sentence the message, with {@code #} in place of the limit */
        Reason(Kind kind, @Nullable Setting setting, String sentence) {
            this.kind = kind;
            this.setting = setting;
            this.sentence = sentence;
        }

        /** {@return the kind of this reason} */
        public Kind kind() {
            return kind;
        }

        /** {@return the setting that was exceeded, or null if the reason is not about a setting} */
        public @Nullable Setting setting() {
            return setting;
        }

        /**
         * {@return the HTTP status for the response: 400, 408, 413, 415, 503 or 507; the application may choose another one for a part that
         * it rejects}
         */
        public int httpStatus() {
            return switch (this) {
                case UNSUPPORTED_MEDIA_TYPE, UNKNOWN_CHARSET -> 415;
                case SPOOL_FULL, TOO_MANY_SPOOL_FILES, DISK_FULL -> 507;
                default -> kind.httpStatus;
            };
        }
    }

    private final Reason reason;
    private final String sentence;
    private final int httpStatus;
    private final @Nullable Setting setting;
    private final long limit;
    private final @Nullable String seen;
    private final int partIndex;
    private final @Nullable String fieldName;
    private final long offset;

    private MultipartException(Builder builder) {
        super(builder.message(), builder.cause);
        this.reason = builder.reason;
        this.sentence = builder.sentence;
        this.httpStatus = builder.httpStatus;
        this.setting = builder.setting;
        this.limit = builder.limit;
        this.seen = builder.seen;
        this.partIndex = builder.partIndex;
        this.fieldName = builder.fieldName;
        this.offset = builder.offset;
    }

    /** {@return a builder of the exception, for adapters, sinks and applications} */
    public static Builder because(Reason reason) {
        return new Builder(reason);
    }

    /** {@return the reason for the rejection} */
    public Reason reason() {
        return reason;
    }

    /** {@return the kind of the {@linkplain #reason() reason}} */
    public Kind kind() {
        return reason.kind();
    }

    /** {@return the HTTP status for the response: the status of the reason, or the one chosen by the application} */
    public int httpStatus() {
        return httpStatus;
    }

    /** {@return the setting that was exceeded; null if there is none, or the limit is not a setting} */
    public @Nullable Setting setting() {
        return setting;
    }

    /** {@return the limit that was exceeded, in the unit of the {@linkplain #setting() setting}; -1 if there is none} */
    public long limit() {
        return limit;
    }

    /** {@return the offending input, escaped and cut to 16 characters, with dots after a cut; null if there is nothing to show} */
    public @Nullable String seen() {
        return seen;
    }

    /** {@return the 0-based index of the offending part; -1 outside of parts} */
    public int partIndex() {
        return partIndex;
    }

    /** {@return the complete name of the offending part as the client sent it, or of the missing field; null if it is unknown} */
    public @Nullable String fieldName() {
        return fieldName;
    }

    /**
     * {@return the 0-based offset of the offending byte in the multipart body; the size of a truncated body; -1 if there is none, for
     * example for an error in the {@code Content-Type}}
     */
    public long offset() {
        return offset;
    }

    /** {@return a builder with all values of this exception, its stack trace and its suppressed exceptions, for adding details} */
    public Builder toBuilder() {
        Builder builder = new Builder(reason)
                .saying(sentence)
                .httpStatus(httpStatus)
                .limit(limit)
                .part(partIndex, fieldName)
                .at(offset)
                .cause(getCause());
        builder.setting = setting;
        builder.seen = seen;
        builder.trace = getStackTrace();
        builder.suppressed = getSuppressed();
        return builder;
    }

    /** {@return the name of a part for a message: shortened, with invisible characters escaped} */
    static String shown(String text) {
        return shown(text, MAX_SHOWN_NAME);
    }

    /** {@return {@code text} for a message: escaped and cut to {@code most} characters, with dots after a cut} */
    private static String shown(String text, int most) {
        StringBuilder shown = new StringBuilder();
        for (int at = 0, c; at < text.length(); at += Character.charCount(c)) {
            c = text.codePointAt(at);
            String next = SafeFilename.isPrintable(c) ? Character.toString(c) : String.format("\\u{%X}", c);
            String quoted = c == '"' || c == '\\' ? '\\' + next : next;
            if (shown.length() + quoted.length() > most) {
                return shown + "...";
            }
            shown.append(quoted);
        }
        return shown.toString();
    }

    /** A builder of exceptions and their messages. Each setter returns this builder. Not thread-safe. */
    public static final class Builder {
        private final Reason reason;
        private String sentence;
        private int httpStatus;
        private @Nullable Setting setting;
        private long limit = -1;
        private @Nullable String seen;
        private int partIndex = -1;
        private @Nullable String fieldName;
        private long offset = -1;
        private @Nullable Throwable cause;
        private StackTraceElement @Nullable [] trace;
        private Throwable[] suppressed = {};

        private Builder(Reason reason) {
            this.reason = reason;
            this.sentence = reason.sentence;
            this.httpStatus = reason.httpStatus();
            this.setting = reason.setting();
        }

        /**
         * Replaces the message with {@code value}, which must not contain client input. The limit, if one is set,
         * replaces the first {@code #}.
         */
        public Builder saying(String value) {
            this.sentence = value;
            return this;
        }

        /** Puts {@code "in " + whole + ": "} before the message. */
        public Builder within(String whole) {
            return saying("in " + whole + ": " + sentence);
        }

        /** Sets the limit that was exceeded. */
        public Builder limit(long value) {
            this.limit = value;
            return this;
        }

        /** Sets the limit that was exceeded. Use this method if the limit is not the value of the reason's setting. */
        public Builder ownLimit(long value) {
            this.setting = null;
            return limit(value);
        }

        /** Sets the offending input, which is escaped and shortened; null for none. */
        public Builder seen(@Nullable String value) {
            this.seen = value == null ? null : shown(value, MAX_SHOWN_INPUT);
            return this;
        }

        /**
         * Sets the offending part.
         *
         * @param index the 0-based index; -1 outside of parts
         * @param name the name of the part as sent, or of a missing field; null if it is unknown
         */
        public Builder part(int index, @Nullable String name) {
            this.partIndex = index;
            this.fieldName = name;
            return this;
        }

        /** Sets the offset of the offending byte in the body; -1 if there is none. */
        public Builder at(long value) {
            this.offset = value;
            return this;
        }

        /** Sets the HTTP status for the response. */
        public Builder httpStatus(int value) {
            this.httpStatus = value;
            return this;
        }

        /** Sets the cause. */
        public Builder cause(@Nullable Throwable value) {
            this.cause = value;
            return this;
        }

        private String message() {
            StringBuilder message = new StringBuilder(sentence);
            int placeholder = sentence.indexOf('#');
            if (limit >= 0 && placeholder >= 0) {
                message.replace(placeholder, placeholder + 1, Long.toString(limit));
            }
            message.append(seen == null || limit >= 0 ? "" : ": " + seen);
            StringBuilder where = new StringBuilder(partIndex < 0 ? "" : "part " + partIndex);
            if (fieldName != null) {
                where.append(partIndex < 0 ? "field" : "")
                        .append(" \"")
                        .append(shown(fieldName, MAX_SHOWN_NAME))
                        .append('"');
            }
            if (offset >= 0) {
                where.append(where.isEmpty() ? "" : ", ").append("offset ").append(offset);
            }
            if (setting != null) {
                where.insert(0, where.isEmpty() ? setting.key() : setting.key() + "; ");
            }
            return where.isEmpty()
                    ? message.toString()
                    : message.append(" (").append(where).append(')').toString();
        }

        /** {@return the exception} */
        public MultipartException build() {
            MultipartException built = new MultipartException(this);
            if (trace != null) {
                built.setStackTrace(trace);
            }
            for (Throwable other : suppressed) {
                built.addSuppressed(other);
            }
            return built;
        }
    }
}
