package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Text;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of decoders and readers: the preset, limits, and the decoding of text. Immutable and thread-safe. One instance can be
 * shared by the whole process.
 */
public final class MultipartOptions {
    private static final MultipartOptions DEFAULTS = builder().build();

    private final Preset preset;
    private final Charset headerCharset;
    private final boolean decodePercentEscapes;
    private final @Nullable Boolean decodeTransferEncodings; // this and the next three: null if the preset decides
    private final @Nullable Boolean joinContinuations;
    private final @Nullable Boolean decodeEncodedWords;
    private final @Nullable Boolean preferExtendedFilename;
    private final @Nullable ByteBufAllocator allocator;
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

    private MultipartOptions(Builder builder) {
        NettyVersion.require();
        this.preset = builder.preset;
        this.headerCharset = builder.headerCharset;
        this.decodePercentEscapes = builder.decodePercentEscapes;
        this.decodeTransferEncodings = builder.decodeTransferEncodings;
        this.joinContinuations = builder.joinContinuations;
        this.decodeEncodedWords = builder.decodeEncodedWords;
        this.preferExtendedFilename = builder.preferExtendedFilename;
        this.allocator = builder.allocator;
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
     * {@return the defaults: {@link Preset#STANDARD}, UTF-8 headers, percent escapes not decoded, Netty's pooled allocator; 1000 parts, 8
     * KiB and 32 fields per header section, 256 KiB for all header sections, 4 KiB each of preamble and epilogue, 256 KiB for a part read
     * as text. The sizes of bodies and parts and the number of files are unlimited, because a streaming decoder does not store them}
     */
    public static MultipartOptions defaults() {
        return DEFAULTS;
    }

    /** {@return a builder that starts from the {@linkplain #defaults() defaults}} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder that starts from these options} */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.preset = preset;
        builder.headerCharset = headerCharset;
        builder.decodePercentEscapes = decodePercentEscapes;
        builder.decodeTransferEncodings = decodeTransferEncodings;
        builder.joinContinuations = joinContinuations;
        builder.decodeEncodedWords = decodeEncodedWords;
        builder.preferExtendedFilename = preferExtendedFilename;
        builder.allocator = allocator;
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

    /** {@return the preset, which decides on deviations} */
    public Preset preset() {
        return preset;
    }

    /** {@return the charset of header field values, names and file names} */
    public Charset headerCharset() {
        return headerCharset;
    }

    /** {@return whether {@code %22}, {@code %0D} and {@code %0A} in a name or file name are decoded} */
    public boolean decodePercentEscapes() {
        return decodePercentEscapes;
    }

    /** {@return whether readers and forms decode base64 and quoted-printable} */
    public boolean decodeTransferEncodings() {
        return decodeTransferEncodings == null ? preset.decodes() : decodeTransferEncodings;
    }

    /** {@return whether the pieces of a file name in RFC 2231 continuations are joined} */
    public boolean joinContinuations() {
        return joinContinuations == null ? preset.decodes() : joinContinuations;
    }

    /** {@return whether RFC 2047 encoded words in names and file names are decoded} */
    public boolean decodeEncodedWords() {
        return decodeEncodedWords == null ? preset.decodes() : decodeEncodedWords;
    }

    /** {@return whether {@code filename*} takes precedence over {@code filename}} */
    public boolean preferExtendedFilename() {
        return preferExtendedFilename == null ? preset.decodes() : preferExtendedFilename;
    }

    /** {@return the allocator of buffers; if none was set, Netty's pooled allocator, which this call initializes} */
    public ByteBufAllocator allocator() {
        return allocator != null ? allocator : NettyDefault.allocator();
    }

    /**
     * {@return whether an allocator was set. If not, an adapter may choose an allocator other than Netty's pooled one, whose thread caches
     * and flight recorder listener prevent the unloading of a web application}
     */
    public boolean hasAllocator() {
        return allocator != null;
    }

    /** {@return the maximum number of bytes of the whole multipart body; {@link Long#MAX_VALUE} if unlimited} */
    public long maxBodyBytes() {
        return maxBodyBytes;
    }

    /** {@return the maximum number of bytes of the body of one part; {@link Long#MAX_VALUE} if unlimited} */
    public long maxPartBytes() {
        return maxPartBytes;
    }

    /** {@return the maximum number of bytes of one part that is read into memory as text; {@link Long#MAX_VALUE} if unlimited} */
    public long maxFieldBytes() {
        return maxFieldBytes;
    }

    /** {@return the maximum number of parts, with or without a file name; {@link Long#MAX_VALUE} if unlimited} */
    public long maxParts() {
        return maxParts;
    }

    /** {@return the maximum number of parts of a form with a file name; {@link Long#MAX_VALUE} if unlimited} */
    public long maxFiles() {
        return maxFiles;
    }

    /** {@return the maximum number of header fields of one part} */
    public int maxHeadersPerPart() {
        return maxHeadersPerPart;
    }

    /** {@return the maximum number of bytes of the header section of one part, including line ends and the blank line} */
    public int maxHeaderBytesPerPart() {
        return maxHeaderBytesPerPart;
    }

    /** {@return the maximum number of bytes of all header sections together; {@link Long#MAX_VALUE} if unlimited} */
    public long maxHeaderBytes() {
        return maxHeaderBytes;
    }

    /** {@return the maximum number of bytes before the first delimiter} */
    public int maxPreambleBytes() {
        return maxPreambleBytes;
    }

    /** {@return the maximum number of bytes after the line of the close-delimiter} */
    public int maxEpilogueBytes() {
        return maxEpilogueBytes;
    }

    /** {@return the limit that a decoder enforces with {@code reason}; -1 if there is none} */
    long limit(Reason reason) {
        return switch (reason) {
            case BODY_TOO_LARGE -> maxBodyBytes;
            case PART_TOO_LARGE -> maxPartBytes;
            case TOO_MANY_PARTS -> maxParts;
            case TOO_MANY_FILES -> maxFiles;
            case TOO_MANY_HEADERS -> maxHeadersPerPart;
            case HEADER_SECTION_TOO_LARGE -> maxHeaderBytesPerPart;
            case HEADERS_TOO_LARGE -> maxHeaderBytes;
            case PREAMBLE_TOO_LARGE -> maxPreambleBytes;
            case EPILOGUE_TOO_LARGE -> maxEpilogueBytes;
            default -> -1;
        };
    }

    /** A holder that loads Netty's pool on first use. */
    private static final class NettyDefault {
        static ByteBufAllocator allocator() {
            return PooledByteBufAllocator.DEFAULT;
        }
    }

    /**
     * A builder of options. Each setter returns this builder. Setters may be called in any order. If a setter is called again, the last
     * value applies. A number out of range causes an {@link IllegalArgumentException} that names the setting. Not thread-safe.
     *
     * <p>Limits are exact: N is accepted, and N + 1 is rejected at the byte or part that exceeds the limit. Bytes are counted as they
     * arrive, and the decoder ignores announced lengths. A setter accepts each value that the getter of the same name returns. If a limit
     * can be turned off, this includes {@link Long#MAX_VALUE}.
     */
    public static final class Builder {
        private Preset preset = Preset.STANDARD;
        private Charset headerCharset = StandardCharsets.UTF_8;
        private boolean decodePercentEscapes;
        private @Nullable Boolean decodeTransferEncodings;
        private @Nullable Boolean joinContinuations;
        private @Nullable Boolean decodeEncodedWords;
        private @Nullable Boolean preferExtendedFilename;
        private @Nullable ByteBufAllocator allocator;
        private long maxBodyBytes = Setting.MAX_BODY_BYTES.decoderDefault();
        private long maxPartBytes = Setting.MAX_PART_BYTES.decoderDefault();
        private long maxFieldBytes = Setting.MAX_FIELD_BYTES.decoderDefault();
        private long maxParts = Setting.MAX_PARTS.decoderDefault();
        private long maxFiles = Setting.MAX_FILES.decoderDefault();
        private int maxHeadersPerPart = (int) Setting.MAX_HEADERS_PER_PART.decoderDefault();
        private int maxHeaderBytesPerPart = (int) Setting.MAX_HEADER_BYTES_PER_PART.decoderDefault();
        private long maxHeaderBytes = Setting.MAX_HEADER_BYTES.decoderDefault();
        private int maxPreambleBytes = (int) Setting.MAX_PREAMBLE_BYTES.decoderDefault();
        private int maxEpilogueBytes = (int) Setting.MAX_EPILOGUE_BYTES.decoderDefault();

        private Builder() {}

        /** Sets the preset, {@link Preset#STANDARD} by default. */
        public Builder preset(Preset value) {
            this.preset = Objects.requireNonNull(value, "preset");
            return this;
        }

        /**
         * Sets the charset of header values, names and file names; UTF-8 by default (RFC 7578 section 5.1). The grammar is read byte by
         * byte, so some quoted values are misread if the charset has characters whose last byte can be a backslash (Shift_JIS, GBK, Big5).
         *
         * @throws IllegalArgumentException if {@code charset} is not a superset of US-ASCII (UTF-16, for example)
         */
        public Builder headerCharset(Charset charset) {
            if (!Text.keepsAscii(charset)) {
                throw new IllegalArgumentException("headerCharset is " + charset
                        + ", which is not a superset of US-ASCII: use UTF-8 or another superset");
            }
            this.headerCharset = charset;
            return this;
        }

        /**
         * Sets whether {@code %22}, {@code %0D} and {@code %0A}, which browsers send in place of quotes and line ends, are decoded in names
         * and file names. Off by default, because other clients send this text literally.
         */
        public Builder decodePercentEscapes(boolean decode) {
            this.decodePercentEscapes = decode;
            return this;
        }

        /**
         * Sets whether readers and forms decode base64 and quoted-printable. The default is {@link Preset#decodes()}.
         * {@link MultipartDecoder} always delivers the bytes as sent. An encoding that the preset rejects is still rejected.
         */
        public Builder decodeTransferEncodings(boolean decode) {
            this.decodeTransferEncodings = decode;
            return this;
        }

        /**
         * Sets whether RFC 2231 continuations of a file name ({@code filename*0=}) are joined if there is no other file name. The default
         * is {@link Preset#decodes()}. Continuations that are not joined are {@link Deviation#UNREADABLE_FILENAME}.
         */
        public Builder joinContinuations(boolean join) {
            this.joinContinuations = join;
            return this;
        }

        /**
         * Sets whether names and file names in RFC 2047 encoded words are decoded; otherwise they are literal. The default is
         * {@link Preset#decodes()}.
         */
        public Builder decodeEncodedWords(boolean decode) {
            this.decodeEncodedWords = decode;
            return this;
        }

        /**
         * Sets whether a valid {@code filename*} always takes precedence over {@code filename}. The default is {@link Preset#decodes()}. If
         * this is off, {@code filename*} takes precedence only if {@code filename} is an encoded word, or the same text with {@code ?} or
         * {@code _} in place of characters outside of ASCII.
         */
        public Builder preferExtendedFilename(boolean prefer) {
            this.preferExtendedFilename = prefer;
            return this;
        }

        /**
         * Sets the allocator of buffers, Netty's pooled allocator by default. If no allocator is set, a decoder keeps header sections in
         * unpooled memory.
         */
        public Builder allocator(ByteBufAllocator value) {
            this.allocator = Objects.requireNonNull(value, "allocator");
            return this;
        }

        /**
         * Limits the bytes of the whole body. The default is 64 MiB for a form, and unlimited for a decoder or reader. A larger body is
         * rejected with {@link Reason#BODY_TOO_LARGE} (413).
         */
        public Builder maxBodyBytes(long value) {
            this.maxBodyBytes = Setting.MAX_BODY_BYTES.check(value);
            return this;
        }

        /** Removes the limit {@link #maxBodyBytes}. */
        public Builder unlimitedBodyBytes() {
            this.maxBodyBytes = Long.MAX_VALUE;
            return this;
        }

        /**
         * Limits the bytes of the body of a part, with or without a file name. The default is unlimited. A larger part is rejected with
         * {@link Reason#PART_TOO_LARGE} (413).
         */
        public Builder maxPartBytes(long value) {
            this.maxPartBytes = Setting.MAX_PART_BYTES.check(value);
            return this;
        }

        /** Removes the limit {@link #maxPartBytes}. */
        public Builder unlimitedPartBytes() {
            this.maxPartBytes = Long.MAX_VALUE;
            return this;
        }

        /**
         * Limits the bytes of a part that is read into memory as text, by default to 256 KiB. Reading a larger part as text fails with
         * {@link Reason#FIELD_TOO_LARGE} (413). A field that is not read as text may be as large as a file. To reject a
         * form when a field exceeds this limit, let its decider return {@link dev.sluice.form.PartDecision#storeInMemory()} for fields.
         */
        public Builder maxFieldBytes(long value) {
            this.maxFieldBytes = Setting.MAX_FIELD_BYTES.check(value);
            return this;
        }

        /** Removes the limit {@link #maxFieldBytes}. */
        public Builder unlimitedFieldBytes() {
            this.maxFieldBytes = Long.MAX_VALUE;
            return this;
        }

        /**
         * Limits the number of parts, with and without a file name, by default to 1000. If the limit is exceeded, the reason is
         * {@link Reason#TOO_MANY_PARTS} (413).
         */
        public Builder maxParts(long value) {
            this.maxParts = Setting.MAX_PARTS.check(value);
            return this;
        }

        /** Removes the limit {@link #maxParts}. */
        public Builder unlimitedParts() {
            this.maxParts = Long.MAX_VALUE;
            return this;
        }

        /**
         * Limits the number of parts with a file name. The default is 100 for a form, and unlimited for a decoder or reader. If the limit
         * is exceeded, the reason is {@link Reason#TOO_MANY_FILES} (413).
         */
        public Builder maxFiles(long value) {
            this.maxFiles = Setting.MAX_FILES.check(value);
            return this;
        }

        /** Removes the limit {@link #maxFiles}. */
        public Builder unlimitedFiles() {
            this.maxFiles = Long.MAX_VALUE;
            return this;
        }

        /**
         * Limits the number of header fields of a part, by default to 32. If the limit is exceeded, the reason is
         * {@link Reason#TOO_MANY_HEADERS} (413).
         */
        public Builder maxHeadersPerPart(int value) {
            this.maxHeadersPerPart = (int) Setting.MAX_HEADERS_PER_PART.check(value);
            return this;
        }

        /**
         * Limits the bytes of a header section, including line ends and the blank line, by default to 8 KiB. A larger section is rejected
         * with {@link Reason#HEADER_SECTION_TOO_LARGE} (413).
         */
        public Builder maxHeaderBytesPerPart(int value) {
            this.maxHeaderBytesPerPart = (int) Setting.MAX_HEADER_BYTES_PER_PART.check(value);
            return this;
        }

        /**
         * Limits the bytes of all header sections together, by default to 256 KiB. If the limit is exceeded, the reason is
         * {@link Reason#HEADERS_TOO_LARGE} (413).
         */
        public Builder maxHeaderBytes(long value) {
            this.maxHeaderBytes = Setting.MAX_HEADER_BYTES.check(value);
            return this;
        }

        /** Removes the limit {@link #maxHeaderBytes}. */
        public Builder unlimitedHeaderBytes() {
            this.maxHeaderBytes = Long.MAX_VALUE;
            return this;
        }

        /**
         * Limits the bytes before the first delimiter, by default to 4 KiB. If the limit is exceeded, the reason is
         * {@link Reason#PREAMBLE_TOO_LARGE} (413), or {@link Reason#PREAMBLE} (400) if the preset rejects every preamble.
         */
        public Builder maxPreambleBytes(int value) {
            this.maxPreambleBytes = (int) Setting.MAX_PREAMBLE_BYTES.check(value);
            return this;
        }

        /**
         * Limits the bytes after the line of the close-delimiter, by default to 4 KiB. If the limit is exceeded, the reason is
         * {@link Reason#EPILOGUE_TOO_LARGE} (413).
         */
        public Builder maxEpilogueBytes(int value) {
            this.maxEpilogueBytes = (int) Setting.MAX_EPILOGUE_BYTES.check(value);
            return this;
        }

        /**
         * Sets a value given as text, as in a configuration file: {@code 100MiB}, {@code unlimited}, {@code true}, {@code strict}.
         *
         * @throws IllegalArgumentException if the setting is not one of these options, or if the text is malformed; the message then
         *     contains the setting, the text and the expected format
         */
        public Builder set(Setting setting, String text) {
            Object value = setting.parse(text);
            switch (setting) {
                case PRESET -> preset = (Preset) value;
                case HEADER_CHARSET -> headerCharset = (Charset) value;
                case DECODE_PERCENT_ESCAPES -> decodePercentEscapes = (boolean) value;
                case DECODE_TRANSFER_ENCODINGS -> decodeTransferEncodings = (boolean) value;
                case JOIN_CONTINUATIONS -> joinContinuations = (boolean) value;
                case DECODE_ENCODED_WORDS -> decodeEncodedWords = (boolean) value;
                case PREFER_EXTENDED_FILENAME -> preferExtendedFilename = (boolean) value;
                case MAX_BODY_BYTES -> maxBodyBytes = (long) value;
                case MAX_PART_BYTES -> maxPartBytes = (long) value;
                case MAX_FIELD_BYTES -> maxFieldBytes = (long) value;
                case MAX_PARTS -> maxParts = (long) value;
                case MAX_FILES -> maxFiles = (long) value;
                case MAX_HEADERS_PER_PART -> maxHeadersPerPart = (int) (long) value;
                case MAX_HEADER_BYTES_PER_PART -> maxHeaderBytesPerPart = (int) (long) value;
                case MAX_HEADER_BYTES -> maxHeaderBytes = (long) value;
                case MAX_PREAMBLE_BYTES -> maxPreambleBytes = (int) (long) value;
                case MAX_EPILOGUE_BYTES -> maxEpilogueBytes = (int) (long) value;
                default ->
                    throw new IllegalArgumentException(
                            setting + " is a setting of " + setting.scope() + " and cannot be set here");
            }
            return this;
        }

        /** {@return the options} */
        public MultipartOptions build() {
            return new MultipartOptions(this);
        }
    }
}
