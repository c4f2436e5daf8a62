package dev.sluice;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A body was not taken: the client's fault, or there was no room for it, or the application refused it. {@link #kind()}
 * says whose fault it is, {@link #httpStatus()} what to answer.
 *
 * <p>Misuse of the API is an {@link IllegalStateException} or {@link IllegalArgumentException}; trouble of the
 * environment (disk broken, connection reset) and of sinks is the original {@link IOException}, untouched.
 *
 * <p>The message is {@code <what is wrong> (<setting>; part 3 "title", offset 91230)}, as far as known. It quotes at most
 * 64 characters of a field name and 16 of anything else that the client sent, escaped.
 *
 * <p>A body fails once: a decoder or reader that has failed throws the same instance from each further call, with the
 * stack trace of the first. Whoever collects failures has to compare before {@link Throwable#addSuppressed}, which
 * takes no throwable for itself.
 */
public final class MultipartException extends IOException {
    private static final long serialVersionUID = 2L;
    private static final int MOST_OF_NAME = 64;
    private static final int MOST_SEEN = 16;

    /** The kinds of blame a server tells apart. */
    public enum Kind {
        /** The bytes break the grammar, or are of a type that is not served. */
        MALFORMED(400),
        /** The body ended too early. */
        TRUNCATED(400),
        /** More than a limit allows. */
        LIMIT_EXCEEDED(413),
        /** The application rejected the form. */
        REFUSED(400),
        /** The server has no room for it now: nobody's fault, and worth another try later. */
        OVERLOADED(503),
        /** The client sends too slowly. */
        TOO_SLOW(408);

        private final int httpStatus;

        Kind(int httpStatus) {
            this.httpStatus = httpStatus;
        }
    }

    /** Why; the sentence says what each means. Stable: a constant is never renamed or given another meaning. */
    public enum Reason {
        MISSING_BOUNDARY("the Content-Type has no boundary parameter"),
        /** The {@code boundary} parameter is not one that can be used (RFC 2046 section 5.1.1). */
        INVALID_BOUNDARY("the boundary cannot be used"),
        DUPLICATE_BOUNDARY("the Content-Type has more than one boundary parameter"),
        /** Not a {@code multipart/*} type, or a nested one where that is refused. */
        UNSUPPORTED_MEDIA_TYPE("the Content-Type is not multipart/form-data"),
        /** A charset that the platform does not know, or in which ASCII is not itself. */
        UNKNOWN_CHARSET("the charset of a text is unknown, or not one for forms"),
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
        DUPLICATE_PARAMETER("the Content-Disposition has a parameter twice"),
        UNSUPPORTED_TRANSFER_ENCODING("the Content-Transfer-Encoding is not 7bit, 8bit or binary"),
        /** A part body that its transfer encoding cannot be undone of, where that is done (RFC 2045 section 6.8). */
        MALFORMED_TRANSFER_ENCODING("a part cannot be decoded as its Content-Transfer-Encoding says"),
        TOO_MANY_PARTS(Setting.MAX_PARTS, "the count of parts"),
        TOO_MANY_FILES(Setting.MAX_FILES, "the count of parts with a file name"),
        /** A part body larger than {@link MultipartOptions#maxPartBytes()}, or than its sink takes. */
        PART_TOO_LARGE(Setting.MAX_PART_BYTES, "the size of the part body"),
        BODY_TOO_LARGE(Setting.MAX_BODY_BYTES, "the size of the multipart body"),
        FIELD_TOO_LARGE(Setting.MAX_FIELD_BYTES, "the size of a part as text or in memory"),
        IN_MEMORY_TOO_LARGE(Setting.MAX_IN_MEMORY_BYTES, "the size of the form in memory"),
        /** Parts kept in files, be it because of their size or because memory is short. */
        TOO_MANY_FILES_ON_DISK(Setting.MAX_FILES_ON_DISK, "the count of files of the form on disk"),
        /** All forms of the process hold as much memory as the {@link dev.sluice.form.MemoryBudget} has. */
        MEMORY_FULL(
                Kind.OVERLOADED,
                Setting.MEMORY_BUDGET_BYTES,
                "the memory for uploads is used up: all of them together may hold # bytes"),
        /** The quota of the {@link dev.sluice.form.SpoolDirectory} is used up. */
        SPOOL_FULL(
                Kind.OVERLOADED,
                Setting.MAX_SPOOL_BYTES,
                "the size of all uploads on disk exceeds the limit of # bytes"),
        /** As many files as the {@link dev.sluice.form.SpoolDirectory} may have. */
        TOO_MANY_SPOOL_FILES(
                Kind.OVERLOADED,
                Setting.MAX_SPOOL_FILES,
                "the count of files of all uploads on disk exceeds the limit of #"),
        /** The disk has no more than the space that a {@link dev.sluice.form.SpoolDirectory} leaves free. */
        DISK_FULL(Kind.OVERLOADED, Setting.KEEP_FREE_BYTES, "the upload would leave less than # bytes free on disk"),
        /** The application refused a part, and the form with it, with a status of its own. */
        PART_REFUSED(Kind.REFUSED, null, "the application refuses the part"),
        /** The form is complete, but lacks a field or file that the application requires. */
        MISSING_FIELD(Kind.REFUSED, null, "a required field is missing"),
        /** A sink was not ready for {@link dev.sluice.form.FormOptions#maxSinkWait()}. */
        SINK_STALLED(Kind.OVERLOADED, Setting.MAX_SINK_WAIT, "the upload could not be stored in time"),
        /** Slower than {@link dev.sluice.form.FormOptions#minBytesPerSecond()}. */
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

        /** @param sentence with {@code #} for what is allowed */
        Reason(Kind kind, @Nullable Setting setting, String sentence) {
            this.kind = kind;
            this.setting = setting;
            this.sentence = sentence;
        }

        /** {@return the kind this reason belongs to} */
        public Kind kind() {
            return kind;
        }

        /** {@return the setting that allows no more, or null where none is to blame} */
        public @Nullable Setting setting() {
            return setting;
        }

        /** {@return the HTTP status code that fits: 400, 408, 413, 415, 503 or 507; of a refused part, if nothing else is said} */
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

    /** {@return why} */
    public Reason reason() {
        return reason;
    }

    /** {@return the kind of the {@linkplain #reason() reason}} */
    public Kind kind() {
        return reason.kind();
    }

    /** {@return the HTTP status code that fits: that of the reason, or what the application refused a part with} */
    public int httpStatus() {
        return httpStatus;
    }

    /** {@return the setting that allows no more, or null where none is to blame, or a limit that is not a setting} */
    public @Nullable Setting setting() {
        return setting;
    }

    /** {@return what is allowed, in the unit of the {@linkplain #setting() setting}, or -1 where there is no limit} */
    public long limit() {
        return limit;
    }

    /** {@return what was there instead: at most 16 characters of it, escaped; null where there is nothing to show} */
    public @Nullable String seen() {
        return seen;
    }

    /** {@return the 0-based index of the part in which the fault is, or -1 outside of any part} */
    public int partIndex() {
        return partIndex;
    }

    /**
     * {@return the full name of that part as the client sent it, or of the field that is missing; null if it is not known}
     */
    public @Nullable String fieldName() {
        return fieldName;
    }

    /**
     * {@return the offset of the offending byte from the start of the multipart body (0-based; the size of the body where
     * it was truncated), or -1 where the fault is in the {@code Content-Type}, or was found by a sink that does not know}
     */
    public long offset() {
        return offset;
    }

    /** {@return a builder that starts from this, its stack trace too: for who knows more of where it happened} */
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
        return builder;
    }

    /** {@return {@code text} for a message: what is no visible character is escaped, and no more than {@code most} are left} */
    private static String shown(String text, int most) {
        StringBuilder shown = new StringBuilder();
        for (int at = 0, c; at < text.length(); at += Character.charCount(c)) {
            c = text.codePointAt(at);
            String next = isVisible(c) ? Character.toString(c) : String.format("\\u{%X}", c);
            String quoted = c == '"' || c == '\\' ? '\\' + next : next;
            if (shown.length() + quoted.length() > most) {
                return shown + "...";
            }
            shown.append(quoted);
        }
        return shown.toString();
    }

    private static boolean isVisible(int c) {
        return c == ' ' || SafeFilename.isKept(c) && Character.getType(c) != Character.SPACE_SEPARATOR;
    }

    /** Collects what is known, and composes the message of it; not thread-safe. */
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

        private Builder(Reason reason) {
            this.reason = reason;
            this.sentence = reason.sentence;
            this.httpStatus = reason.httpStatus();
            this.setting = reason.setting();
        }

        /** {@return this builder; {@code value} says what is wrong, with {@code #} for the limit, and quotes nothing that the client sent} */
        public Builder saying(String value) {
            this.sentence = value;
            return this;
        }

        /** {@return this builder; what is wrong is so in {@code whole}} */
        public Builder within(String whole) {
            return saying("in " + whole + ": " + sentence);
        }

        /** {@return this builder; {@code value} is allowed} */
        public Builder limit(long value) {
            this.limit = value;
            return this;
        }

        /** {@return this builder; {@code value} is allowed, by a limit that is not the setting of the reason} */
        public Builder ownLimit(long value) {
            this.setting = null;
            return limit(value);
        }

        /** {@return this builder; {@code value} was seen, and is escaped and shortened here; null for nothing} */
        public Builder seen(@Nullable String value) {
            this.seen = value == null ? null : shown(value, MOST_SEEN);
            return this;
        }

        /**
         * {@return this builder; it happened in that part}
         *
         * @param index 0-based, or -1 outside of any part
         * @param name the name of the part as sent, or of a field that is missing; null if it is not known
         */
        public Builder part(int index, @Nullable String name) {
            this.partIndex = index;
            this.fieldName = name;
            return this;
        }

        /** {@return this builder; the offending byte is at {@code value} of the body, or -1} */
        public Builder at(long value) {
            this.offset = value;
            return this;
        }

        /** {@return this builder; {@code value} is the HTTP status to answer} */
        public Builder httpStatus(int value) {
            this.httpStatus = value;
            return this;
        }

        /** {@return this builder; {@code value} is to blame} */
        public Builder cause(@Nullable Throwable value) {
            this.cause = value;
            return this;
        }

        private String message() {
            StringBuilder message =
                    new StringBuilder(limit < 0 ? sentence : sentence.replace("#", Long.toString(limit)));
            message.append(seen == null || limit >= 0 ? "" : ": " + seen);
            StringBuilder where = new StringBuilder(partIndex < 0 ? "" : "part " + partIndex);
            if (fieldName != null) {
                where.append(partIndex < 0 ? "field" : "")
                        .append(" \"")
                        .append(shown(fieldName, MOST_OF_NAME))
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
            return built;
        }
    }
}
