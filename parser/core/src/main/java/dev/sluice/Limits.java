package dev.sluice;

import dev.sluice.MultipartException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * How much of everything a body may hold. Immutable and thread-safe.
 *
 * <p>Limits are exact: a value of N passes, N + 1 is refused at the byte that makes it so, with the
 * {@link MultipartException.Reason} named at each. They are counted on bytes seen, never on lengths announced, and hold
 * for parts with and without a file name alike. A limit is turned off by a named call only.
 */
public final class Limits {
    private static final long UNLIMITED = Long.MAX_VALUE;
    private static final Limits DEFAULTS = builder().build();
    private final long maxBodyBytes;
    private final long maxPartBytes;
    private final long maxFieldBytes;
    private final long maxParts;
    private final long maxFiles;
    private final int maxHeadersPerPart;
    private final int maxHeaderBytesPerPart;
    private final long maxHeaderBytes;
    private final int maxPreambleBytes;
    private final int maxEpilogueBytes;

    private Limits(Builder builder) {
        this.maxBodyBytes = builder.maxBodyBytes;
        this.maxPartBytes = builder.maxPartBytes;
        this.maxFieldBytes = builder.maxFieldBytes;
        this.maxParts = builder.maxParts;
        this.maxFiles = builder.maxFiles;
        this.maxHeadersPerPart = builder.maxHeadersPerPart;
        this.maxHeaderBytesPerPart = builder.maxHeaderBytesPerPart;
        this.maxHeaderBytes = builder.maxHeaderBytes;
        this.maxPreambleBytes = builder.maxPreambleBytes;
        this.maxEpilogueBytes = builder.maxEpilogueBytes;
    }

    /**
     * {@return the defaults: 1000 parts, 8 KiB and 32 fields per header section, 256 KiB for all header sections, 4 KiB of
     * preamble and of epilogue each, 256 KiB for a part read as text; body, part size and file count unlimited, because a
     * streaming decoder keeps none of it}
     */
    public static Limits defaults() {
        return DEFAULTS;
    }

    /** {@return a builder that starts from the {@linkplain #defaults() defaults}} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder that starts from these limits} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.maxBodyBytes = maxBodyBytes;
        builder.maxPartBytes = maxPartBytes;
        builder.maxFieldBytes = maxFieldBytes;
        builder.maxParts = maxParts;
        builder.maxFiles = maxFiles;
        builder.maxHeadersPerPart = maxHeadersPerPart;
        builder.maxHeaderBytesPerPart = maxHeaderBytesPerPart;
        builder.maxHeaderBytes = maxHeaderBytes;
        builder.maxPreambleBytes = maxPreambleBytes;
        builder.maxEpilogueBytes = maxEpilogueBytes;
        return builder;
    }

    /** {@return the largest number of bytes of the multipart body, all of it ({@link Long#MAX_VALUE} where unlimited); beyond it {@link Reason#BODY_TOO_LARGE}} */
    public long maxBodyBytes() {
        return maxBodyBytes;
    }

    /** {@return the largest number of bytes of one part body ({@link Long#MAX_VALUE} where unlimited); beyond it {@link Reason#PART_TOO_LARGE}} */
    public long maxPartBytes() {
        return maxPartBytes;
    }

    /** {@return the largest number of bytes of one part read into memory as text ({@link Long#MAX_VALUE} where unlimited); beyond it {@link Reason#FIELD_TOO_LARGE}} */
    public long maxFieldBytes() {
        return maxFieldBytes;
    }

    /** {@return the largest number of parts, with or without a file name ({@link Long#MAX_VALUE} where unlimited); beyond it {@link Reason#TOO_MANY_PARTS}} */
    public long maxParts() {
        return maxParts;
    }

    /** {@return the largest number of parts with a file name ({@link Long#MAX_VALUE} where unlimited); beyond it {@link Reason#TOO_MANY_FILES}} */
    public long maxFiles() {
        return maxFiles;
    }

    /** {@return the largest number of header fields of one part; beyond it {@link Reason#TOO_MANY_HEADERS}} */
    public int maxHeadersPerPart() {
        return maxHeadersPerPart;
    }

    /** {@return the largest number of bytes of the header section of one part, its line ends and the blank line included; beyond it {@link Reason#HEADER_SECTION_TOO_LARGE}} */
    public int maxHeaderBytesPerPart() {
        return maxHeaderBytesPerPart;
    }

    /** {@return the largest number of bytes of all header sections together ({@link Long#MAX_VALUE} where unlimited); beyond it {@link Reason#HEADERS_TOO_LARGE}} */
    public long maxHeaderBytes() {
        return maxHeaderBytes;
    }

    /** {@return the largest number of bytes before the first delimiter; beyond it {@link Reason#PREAMBLE_TOO_LARGE}} */
    public int maxPreambleBytes() {
        return maxPreambleBytes;
    }

    /** {@return the largest number of bytes after the line of the close-delimiter; beyond it {@link Reason#EPILOGUE_TOO_LARGE}} */
    public int maxEpilogueBytes() {
        return maxEpilogueBytes;
    }

    /** {@return the name of the setting that {@code reason} exceeds, or null where it is no limit} */
    static @Nullable String settingOf(Reason reason) {
        return switch (reason) {
            case BODY_TOO_LARGE -> "maxBodyBytes";
            case PART_TOO_LARGE -> "maxPartBytes";
            case FIELD_TOO_LARGE -> "maxFieldBytes";
            case TOO_MANY_PARTS -> "maxParts";
            case TOO_MANY_FILES -> "maxFiles";
            case TOO_MANY_HEADERS -> "maxHeadersPerPart";
            case HEADER_SECTION_TOO_LARGE -> "maxHeaderBytesPerPart";
            case HEADERS_TOO_LARGE -> "maxHeaderBytes";
            case PREAMBLE_TOO_LARGE -> "maxPreambleBytes";
            case EPILOGUE_TOO_LARGE -> "maxEpilogueBytes";
            case IN_MEMORY_TOO_LARGE -> "maxInMemoryBytes";
            default -> null;
        };
    }

    /** Collects limits; not thread-safe. */
    public static final class Builder {
        private long maxBodyBytes = UNLIMITED;
        private long maxPartBytes = UNLIMITED;
        private long maxFieldBytes = 256 << 10;
        private long maxParts = 1000;
        private long maxFiles = UNLIMITED;
        private int maxHeadersPerPart = 32;
        private int maxHeaderBytesPerPart = 8 << 10;
        private long maxHeaderBytes = 256 << 10;
        private int maxPreambleBytes = 4 << 10;
        private int maxEpilogueBytes = 4 << 10;

        private Builder() {}

        /**
         * Sets the largest number of bytes of the multipart body, all of it.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxBodyBytes(long value) {
            this.maxBodyBytes = check("maxBodyBytes", value, "unlimitedBodyBytes()");
            return this;
        }

        /**
         * Turns {@link #maxBodyBytes} off.
         *
         * @return this builder
         */
        public Builder unlimitedBodyBytes() {
            this.maxBodyBytes = UNLIMITED;
            return this;
        }

        /**
         * Sets the largest number of bytes of one part body.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxPartBytes(long value) {
            this.maxPartBytes = check("maxPartBytes", value, "unlimitedPartBytes()");
            return this;
        }

        /**
         * Turns {@link #maxPartBytes} off.
         *
         * @return this builder
         */
        public Builder unlimitedPartBytes() {
            this.maxPartBytes = UNLIMITED;
            return this;
        }

        /**
         * Sets the largest number of bytes of one part read into memory as text.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxFieldBytes(long value) {
            this.maxFieldBytes = check("maxFieldBytes", value, "unlimitedFieldBytes()");
            return this;
        }

        /**
         * Turns {@link #maxFieldBytes} off.
         *
         * @return this builder
         */
        public Builder unlimitedFieldBytes() {
            this.maxFieldBytes = UNLIMITED;
            return this;
        }

        /**
         * Sets the largest number of parts, with or without a file name.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxParts(long value) {
            this.maxParts = check("maxParts", value, "unlimitedParts()");
            return this;
        }

        /**
         * Turns {@link #maxParts} off.
         *
         * @return this builder
         */
        public Builder unlimitedParts() {
            this.maxParts = UNLIMITED;
            return this;
        }

        /**
         * Sets the largest number of parts with a file name.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxFiles(long value) {
            this.maxFiles = check("maxFiles", value, "unlimitedFiles()");
            return this;
        }

        /**
         * Turns {@link #maxFiles} off.
         *
         * @return this builder
         */
        public Builder unlimitedFiles() {
            this.maxFiles = UNLIMITED;
            return this;
        }

        /**
         * Sets the largest number of header fields of one part.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxHeadersPerPart(int value) {
            this.maxHeadersPerPart = checkInt("maxHeadersPerPart", value);
            return this;
        }

        /**
         * Sets the largest number of bytes of the header section of one part, its line ends and the blank line included.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxHeaderBytesPerPart(int value) {
            this.maxHeaderBytesPerPart = checkInt("maxHeaderBytesPerPart", value);
            return this;
        }

        /**
         * Sets the largest number of bytes of all header sections together.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxHeaderBytes(long value) {
            this.maxHeaderBytes = check("maxHeaderBytes", value, "unlimitedHeaderBytes()");
            return this;
        }

        /**
         * Turns {@link #maxHeaderBytes} off.
         *
         * @return this builder
         */
        public Builder unlimitedHeaderBytes() {
            this.maxHeaderBytes = UNLIMITED;
            return this;
        }

        /**
         * Sets the largest number of bytes before the first delimiter.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxPreambleBytes(int value) {
            this.maxPreambleBytes = checkInt("maxPreambleBytes", value);
            return this;
        }

        /**
         * Sets the largest number of bytes after the line of the close-delimiter.
         *
         * @param value 0 or more
         * @return this builder
         * @throws IllegalArgumentException if {@code value} is negative
         */
        public Builder maxEpilogueBytes(int value) {
            this.maxEpilogueBytes = checkInt("maxEpilogueBytes", value);
            return this;
        }

        /** {@return the limits collected so far} */
        public Limits build() {
            return new Limits(this);
        }

        private static long check(String name, long value, String off) {
            if (value < 0) {
                throw new IllegalArgumentException(
                        name + " is " + value + ", must be 0 or more; to turn it off call " + off);
            }
            return value;
        }

        private static int checkInt(String name, int value) {
            if (value < 0) {
                throw new IllegalArgumentException(name + " is " + value + ", must be 0 or more");
            }
            return value;
        }
    }
}
