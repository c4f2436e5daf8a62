package dev.sluice;

import dev.sluice.buffer.Text;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The setters for limits and accepted deviations that all builders of options share. Setters may be called in any order. The last call of
 * a setter counts. A number out of range is an {@link IllegalArgumentException} that names the setting. Not thread-safe.
 *
 * <p>Limits are exact: N is accepted, and N + 1 is rejected at the byte or part that exceeds the limit. Bytes are counted as they arrive;
 * announced lengths do not matter. The limits apply to parts with and without a file name.
 *
 * @param <B> the builder
 */
public abstract class BodySettings<B extends BodySettings<B>> {
    private final Setting.Scope scope;
    final long[] numbers;
    Preset preset = Preset.STANDARD;
    Charset headerCharset = StandardCharsets.UTF_8;

    @Nullable
    ByteBufAllocator allocator;

    /**
     * Starts from {@code options}, or from the defaults if it is null.
     *
     * @param scope {@link Setting.Scope#BODY}, or {@link Setting.Scope#FORM} for a builder that accepts settings of a form too
     */
    protected BodySettings(Setting.Scope scope, @Nullable MultipartOptions options) {
        this.scope = scope;
        if (options == null) {
            boolean form = scope == Setting.Scope.FORM;
            this.numbers = Stream.of(Setting.values())
                    .mapToLong(form ? Setting::formDefault : Setting::decoderDefault)
                    .toArray();
        } else {
            this.numbers = options.numbers.clone();
            this.preset = options.preset();
            this.headerCharset = options.headerCharset();
            this.allocator = options.allocator;
        }
    }

    /** {@return the options, including the settings of a form} */
    protected final MultipartOptions collected() {
        return new MultipartOptions(this);
    }

    /** {@return this builder, with a number checked and set} */
    protected final B put(Setting setting, long value) {
        numbers[setting.ordinal()] = setting.check(value);
        return self();
    }

    /** {@return this builder, with a time checked and set, at most 292 years} */
    protected final B put(Setting setting, Duration time) {
        return put(setting, Setting.nanos(time));
    }

    /** {@return this builder, with a limit turned off} */
    protected final B off(Setting setting) {
        numbers[setting.ordinal()] = setting.off();
        return self();
    }

    @SuppressWarnings("unchecked") // every subclass is its own B
    private B self() {
        return (B) this;
    }

    /**
     * Sets a value given as text, as in a configuration file: {@code 100MiB}, {@code unlimited}, {@code 5s}, {@code true}, {@code
     * strict}.
     *
     * @return this builder
     * @throws IllegalArgumentException if the text is malformed or the setting has another scope; the message has the setting, the text
     *     and the expected form
     */
    public B set(Setting setting, String text) {
        if (setting.scope() != Setting.Scope.BODY && setting.scope() != scope) {
            throw new IllegalArgumentException(
                    setting.key() + " is a setting of " + setting.scope() + ", not of " + scope);
        }
        Object value = setting.parse(text);
        if (value instanceof Preset named) {
            return preset(named);
        } else if (value instanceof Charset named) {
            return headerCharset(named);
        } else if (value instanceof Boolean on) {
            return put(setting, on ? 1 : 0);
        } else if (value instanceof Duration time) {
            return put(setting, time);
        }
        numbers[setting.ordinal()] = (long) value; // unlimited values exceed the maximum of put
        return self();
    }

    /** {@return this builder, with a preset; the default is {@link Preset#STANDARD}} */
    public B preset(Preset value) {
        this.preset = Objects.requireNonNull(value, "preset");
        return self();
    }

    /**
     * Sets the charset of header values, names and file names; UTF-8 by default (RFC 7578 section 5.1). The grammar is read byte by
     * byte. In charsets with characters that may end with the byte of a backslash (Shift_JIS, GBK, Big5), some quoted values are misread.
     *
     * @return this builder
     * @throws IllegalArgumentException if {@code charset} is not a superset of US-ASCII, as UTF-16
     */
    public B headerCharset(Charset charset) {
        if (!Text.keepsAscii(charset)) {
            throw new IllegalArgumentException("headerCharset is " + charset
                    + ", which is not a superset of US-ASCII: use UTF-8 or another one that is");
        }
        this.headerCharset = charset;
        return self();
    }

    /**
     * Sets whether the three escapes of browsers in names and file names ({@code %22}, {@code %0D} and {@code %0A}) are decoded. Off by
     * default, because a client may also send this text literally.
     *
     * @return this builder
     */
    public B decodePercentEscapes(boolean decode) {
        return put(Setting.DECODE_PERCENT_ESCAPES, decode ? 1 : 0);
    }

    /**
     * Sets whether readers and forms decode base64 and quoted-printable; by default {@link Preset#decodes()}. {@link MultipartDecoder}
     * always delivers the bytes as sent. An encoding that the preset rejects is still rejected.
     *
     * @return this builder
     */
    public B decodeTransferEncodings(boolean decode) {
        return put(Setting.DECODE_TRANSFER_ENCODINGS, decode ? 1 : 0);
    }

    /**
     * Sets whether RFC 2231 continuations of a file name ({@code filename*0=}) are joined if there is no other file name; by default {@link
     * Preset#decodes()}. Otherwise they are {@link Deviation#UNREADABLE_FILENAME}.
     *
     * @return this builder
     */
    public B joinContinuations(boolean join) {
        return put(Setting.JOIN_CONTINUATIONS, join ? 1 : 0);
    }

    /**
     * Sets whether names and file names in RFC 2047 encoded words are decoded; by default {@link Preset#decodes()}. Otherwise they are
     * literal.
     *
     * @return this builder
     */
    public B decodeEncodedWords(boolean decode) {
        return put(Setting.DECODE_ENCODED_WORDS, decode ? 1 : 0);
    }

    /**
     * Sets whether a valid {@code filename*} takes precedence over {@code filename}; by default {@link Preset#decodes()}. Otherwise it does
     * so only if {@code filename} is an encoded word, or the same text with {@code ?} or {@code _} in place of characters outside of
     * ASCII.
     *
     * @return this builder
     */
    public B preferExtendedFilename(boolean prefer) {
        return put(Setting.PREFER_EXTENDED_FILENAME, prefer ? 1 : 0);
    }

    /** {@return this builder, with an allocator of buffers; the default is Netty's pooled allocator} */
    public B allocator(ByteBufAllocator value) {
        this.allocator = Objects.requireNonNull(value, "allocator");
        return self();
    }

    /**
     * Limits the bytes of the whole body. The default is 64 MiB for a form, and unlimited for a decoder or reader. A larger body is {@link
     * MultipartException.Reason#BODY_TOO_LARGE} (413).
     *
     * @return this builder
     */
    public B maxBodyBytes(long value) {
        return put(Setting.MAX_BODY_BYTES, value);
    }

    /** {@return this builder, with {@link #maxBodyBytes} turned off} */
    public B unlimitedBodyBytes() {
        return off(Setting.MAX_BODY_BYTES);
    }

    /**
     * Limits the bytes of the body of a part. The default is unlimited. A larger part is {@link
     * MultipartException.Reason#PART_TOO_LARGE} (413).
     *
     * @return this builder
     */
    public B maxPartBytes(long value) {
        return put(Setting.MAX_PART_BYTES, value);
    }

    /** {@return this builder, with {@link #maxPartBytes} turned off} */
    public B unlimitedPartBytes() {
        return off(Setting.MAX_PART_BYTES);
    }

    /**
     * Limits the bytes of a part that is read into memory as text, by default to 256 KiB. A larger part is {@link
     * MultipartException.Reason#FIELD_TOO_LARGE} (413).
     *
     * @return this builder
     */
    public B maxFieldBytes(long value) {
        return put(Setting.MAX_FIELD_BYTES, value);
    }

    /** {@return this builder, with {@link #maxFieldBytes} turned off} */
    public B unlimitedFieldBytes() {
        return off(Setting.MAX_FIELD_BYTES);
    }

    /**
     * Limits the number of parts, with and without a file name, by default to 1000. More are {@link
     * MultipartException.Reason#TOO_MANY_PARTS} (413).
     *
     * @return this builder
     */
    public B maxParts(long value) {
        return put(Setting.MAX_PARTS, value);
    }

    /** {@return this builder, with {@link #maxParts} turned off} */
    public B unlimitedParts() {
        return off(Setting.MAX_PARTS);
    }

    /**
     * Limits the number of parts with a file name. The default is 100 for a form, and unlimited for a decoder or reader. More are {@link
     * MultipartException.Reason#TOO_MANY_FILES} (413).
     *
     * @return this builder
     */
    public B maxFiles(long value) {
        return put(Setting.MAX_FILES, value);
    }

    /** {@return this builder, with {@link #maxFiles} turned off} */
    public B unlimitedFiles() {
        return off(Setting.MAX_FILES);
    }

    /**
     * Limits the number of header fields of a part, by default to 32. More are {@link MultipartException.Reason#TOO_MANY_HEADERS} (413).
     *
     * @return this builder
     */
    public B maxHeadersPerPart(int value) {
        return put(Setting.MAX_HEADERS_PER_PART, value);
    }

    /**
     * Limits the bytes of a header section, including line ends and the blank line, by default to 8 KiB. A larger section is {@link
     * MultipartException.Reason#HEADER_SECTION_TOO_LARGE} (413).
     *
     * @return this builder
     */
    public B maxHeaderBytesPerPart(int value) {
        return put(Setting.MAX_HEADER_BYTES_PER_PART, value);
    }

    /**
     * Limits the bytes of all header sections together, by default to 256 KiB. More are {@link
     * MultipartException.Reason#HEADERS_TOO_LARGE} (413).
     *
     * @return this builder
     */
    public B maxHeaderBytes(long value) {
        return put(Setting.MAX_HEADER_BYTES, value);
    }

    /** {@return this builder, with {@link #maxHeaderBytes} turned off} */
    public B unlimitedHeaderBytes() {
        return off(Setting.MAX_HEADER_BYTES);
    }

    /**
     * Limits the bytes before the first delimiter, by default to 4 KiB. More are {@link
     * MultipartException.Reason#PREAMBLE_TOO_LARGE} (413).
     *
     * @return this builder
     */
    public B maxPreambleBytes(int value) {
        return put(Setting.MAX_PREAMBLE_BYTES, value);
    }

    /**
     * Limits the bytes after the line of the close-delimiter, by default to 4 KiB. More are {@link
     * MultipartException.Reason#EPILOGUE_TOO_LARGE} (413).
     *
     * @return this builder
     */
    public B maxEpilogueBytes(int value) {
        return put(Setting.MAX_EPILOGUE_BYTES, value);
    }
}
