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
 * The setters of what a body may hold and what is tolerated in it, for every builder of options. In any order; of two
 * calls of one setter the last counts. A number out of its range is an {@link IllegalArgumentException} that names the
 * setting. Limits are exact: a value of N passes, N + 1 is refused at the byte that makes it so. They are counted on bytes
 * seen, never on lengths announced, and hold for parts with and without a file name alike. Not thread-safe.
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
     * Starts from {@code options}, or from the defaults where they are null.
     *
     * @param scope {@link Setting.Scope#BODY}, or {@link Setting.Scope#FORM} for a builder that takes settings of a form too
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

    /** {@return the options collected so far; they carry the numbers of a form too} */
    protected final MultipartOptions collected() {
        return new MultipartOptions(this);
    }

    /** {@return this builder, with a number changed after a look at its range} */
    protected final B put(Setting setting, long value) {
        numbers[setting.ordinal()] = setting.check(value);
        return self();
    }

    /** {@return this builder, with a time changed; of more than 292 years, it is 292} */
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
     * Sets what a text says, as in a configuration file: {@code 100MiB}, {@code unlimited}, {@code 5s}, {@code true}, {@code
     * strict}.
     *
     * @return this builder
     * @throws IllegalArgumentException if the text cannot be read or the setting belongs elsewhere; names the setting, the
     *     text and what is expected
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
        numbers[setting.ordinal()] = (long) value; // it may be off
        return self();
    }

    /** {@return this builder; {@code value} says which deviations are accepted, {@link Preset#STANDARD} by default} */
    public B preset(Preset value) {
        this.preset = Objects.requireNonNull(value, "preset");
        return self();
    }

    /**
     * Sets the charset of header field values, names and file names; UTF-8 by default (RFC 7578 section 5.1). The grammar is
     * read byte by byte, so that in charsets whose characters may end with the byte of a backslash (Shift_JIS, GBK, Big5)
     * some quoted values are misread.
     *
     * @return this builder
     * @throws IllegalArgumentException if US-ASCII bytes mean something else in {@code charset}, as in UTF-16
     */
    public B headerCharset(Charset charset) {
        if (!Text.keepsAscii(charset)) {
            throw new IllegalArgumentException("headerCharset is " + charset
                    + ", which is not a superset of US-ASCII: pass UTF-8 or another one that is");
        }
        this.headerCharset = charset;
        return self();
    }

    /**
     * {@return this builder; whether the three escapes that browsers put into names and file names ({@code %22}, {@code %0D}
     * and {@code %0A}) are decoded: off by default, because a client that sends them literally is not told apart}
     */
    public B decodePercentEscapes(boolean decode) {
        return put(Setting.DECODE_PERCENT_ESCAPES, decode ? 1 : 0);
    }

    /**
     * {@return this builder; whether readers and forms undo base64 and quoted-printable: by default if {@link
     * Preset#decodes()}. The decoder hands out what came, and an encoding that the preset refuses is refused all the same}
     */
    public B decodeTransferEncodings(boolean decode) {
        return put(Setting.DECODE_TRANSFER_ENCODINGS, decode ? 1 : 0);
    }

    /**
     * {@return this builder; whether the pieces of a file name in RFC 2231 continuations ({@code filename*0=}) are joined
     * where there is no other: by default if {@link Preset#decodes()}. Else they are {@link Deviation#UNREADABLE_FILENAME}}
     */
    public B joinContinuations(boolean join) {
        return put(Setting.JOIN_CONTINUATIONS, join ? 1 : 0);
    }

    /**
     * {@return this builder; whether a name or file name of RFC 2047 encoded words is decoded: by default if {@link
     * Preset#decodes()}. Else it is the text that was sent}
     */
    public B decodeEncodedWords(boolean decode) {
        return put(Setting.DECODE_ENCODED_WORDS, decode ? 1 : 0);
    }

    /**
     * {@return this builder; whether a {@code filename*} that can be decoded is the file name where there is a {@code filename}
     * too: by default if {@link Preset#decodes()}. Else only where the plain one is an encoded word, or the same but for {@code ?}
     * or {@code _} in place of what is not ASCII}
     */
    public B preferExtendedFilename(boolean prefer) {
        return put(Setting.PREFER_EXTENDED_FILENAME, prefer ? 1 : 0);
    }

    /** {@return this builder; buffers come from {@code value}, netty's pooled allocator by default} */
    public B allocator(ByteBufAllocator value) {
        this.allocator = Objects.requireNonNull(value, "allocator");
        return self();
    }

    /**
     * {@return this builder; the body has at most {@code value} bytes, all of it, 0 or more; by default 64 MiB for a form,
     * unlimited for a decoder or reader, and beyond it {@link MultipartException.Reason#BODY_TOO_LARGE} (413)}
     */
    public B maxBodyBytes(long value) {
        return put(Setting.MAX_BODY_BYTES, value);
    }

    /** {@return this builder, with {@link #maxBodyBytes} off} */
    public B unlimitedBodyBytes() {
        return off(Setting.MAX_BODY_BYTES);
    }

    /**
     * {@return this builder; the body of a part has at most {@code value} bytes, 0 or more; unlimited by default; beyond it
     * {@link MultipartException.Reason#PART_TOO_LARGE} (413)}
     */
    public B maxPartBytes(long value) {
        return put(Setting.MAX_PART_BYTES, value);
    }

    /** {@return this builder, with {@link #maxPartBytes} off} */
    public B unlimitedPartBytes() {
        return off(Setting.MAX_PART_BYTES);
    }

    /**
     * {@return this builder; a part that is read into memory as text has at most {@code value} bytes, 0 or more; 256 KiB by
     * default; beyond it {@link MultipartException.Reason#FIELD_TOO_LARGE} (413)}
     */
    public B maxFieldBytes(long value) {
        return put(Setting.MAX_FIELD_BYTES, value);
    }

    /** {@return this builder, with {@link #maxFieldBytes} off} */
    public B unlimitedFieldBytes() {
        return off(Setting.MAX_FIELD_BYTES);
    }

    /**
     * {@return this builder; there are at most {@code value} parts, with or without a file name, 0 or more; 1000 by default;
     * beyond it {@link MultipartException.Reason#TOO_MANY_PARTS} (413)}
     */
    public B maxParts(long value) {
        return put(Setting.MAX_PARTS, value);
    }

    /** {@return this builder, with {@link #maxParts} off} */
    public B unlimitedParts() {
        return off(Setting.MAX_PARTS);
    }

    /**
     * {@return this builder; there are at most {@code value} parts with a file name, 0 or more; by default 100 for a form,
     * unlimited for a decoder or reader, and beyond it {@link MultipartException.Reason#TOO_MANY_FILES} (413)}
     */
    public B maxFiles(long value) {
        return put(Setting.MAX_FILES, value);
    }

    /** {@return this builder, with {@link #maxFiles} off} */
    public B unlimitedFiles() {
        return off(Setting.MAX_FILES);
    }

    /**
     * {@return this builder; a part has at most {@code value} header fields, 0 or more; 32 by default; beyond it {@link
     * MultipartException.Reason#TOO_MANY_HEADERS} (413)}
     */
    public B maxHeadersPerPart(int value) {
        return put(Setting.MAX_HEADERS_PER_PART, value);
    }

    /**
     * {@return this builder; a header section has at most {@code value} bytes, line ends and blank line included, 0 or more; 8
     * KiB by default; beyond it {@link MultipartException.Reason#HEADER_SECTION_TOO_LARGE} (413)}
     */
    public B maxHeaderBytesPerPart(int value) {
        return put(Setting.MAX_HEADER_BYTES_PER_PART, value);
    }

    /**
     * {@return this builder; all header sections together have at most {@code value} bytes, 0 or more; 256 KiB by default;
     * beyond it {@link MultipartException.Reason#HEADERS_TOO_LARGE} (413)}
     */
    public B maxHeaderBytes(long value) {
        return put(Setting.MAX_HEADER_BYTES, value);
    }

    /** {@return this builder, with {@link #maxHeaderBytes} off} */
    public B unlimitedHeaderBytes() {
        return off(Setting.MAX_HEADER_BYTES);
    }

    /**
     * {@return this builder; there are at most {@code value} bytes before the first delimiter, 0 or more; 4 KiB by default;
     * beyond it {@link MultipartException.Reason#PREAMBLE_TOO_LARGE} (413)}
     */
    public B maxPreambleBytes(int value) {
        return put(Setting.MAX_PREAMBLE_BYTES, value);
    }

    /**
     * {@return this builder; there are at most {@code value} bytes after the line of the close-delimiter, 0 or more; 4 KiB by
     * default; beyond it {@link MultipartException.Reason#EPILOGUE_TOO_LARGE} (413)}
     */
    public B maxEpilogueBytes(int value) {
        return put(Setting.MAX_EPILOGUE_BYTES, value);
    }
}
