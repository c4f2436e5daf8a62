package dev.sluice;

import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;

/**
 * The options of decoders and readers: the preset, limits, and the decoding of text. Immutable and thread-safe. One instance can be
 * shared by the whole process.
 */
public final class MultipartOptions {
    private static final MultipartOptions DEFAULTS = builder().build();

    /** The values of all settings that are numbers or flags, indexed by the ordinal of the {@link Setting}. Includes settings of forms. */
    final long[] numbers;

    final @Nullable ByteBufAllocator allocator;
    private final Preset preset;
    private final Charset headerCharset;

    MultipartOptions(BodySettings<?> settings) {
        NettyVersion.require();
        this.numbers = settings.numbers.clone();
        this.preset = settings.preset;
        this.headerCharset = settings.headerCharset;
        this.allocator = settings.allocator;
    }

    /**
     * {@return the defaults: {@link Preset#STANDARD}, UTF-8 headers, literal escapes, Netty's pooled allocator; 1000 parts, 8 KiB and 32
     * fields per header section, 256 KiB for all header sections, 4 KiB each of preamble and epilogue, 256 KiB for a part read as text. The
     * sizes of bodies and parts and the number of files are unlimited, because a streaming decoder does not store them}
     */
    public static MultipartOptions defaults() {
        return DEFAULTS;
    }

    /** {@return a builder that starts from the {@linkplain #defaults() defaults}} */
    public static Builder builder() {
        return new Builder(null);
    }

    /** {@return a builder that starts from these options} */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** {@return the value of a setting ({@link Long#MAX_VALUE} if unlimited; nanoseconds for a time)} */
    public long number(Setting setting) {
        return numbers[setting.ordinal()];
    }

    /** {@return whether a setting is on; the default may depend on the preset} */
    public boolean isOn(Setting flag) {
        long set = number(flag);
        return set < 0 ? preset.decodes() : set > 0;
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
        return isOn(Setting.DECODE_PERCENT_ESCAPES);
    }

    /** {@return whether readers and forms decode base64 and quoted-printable} */
    public boolean decodeTransferEncodings() {
        return isOn(Setting.DECODE_TRANSFER_ENCODINGS);
    }

    /** {@return whether the pieces of a file name in RFC 2231 continuations are joined} */
    public boolean joinContinuations() {
        return isOn(Setting.JOIN_CONTINUATIONS);
    }

    /** {@return whether names and file names of RFC 2047 encoded words are decoded} */
    public boolean decodeEncodedWords() {
        return isOn(Setting.DECODE_ENCODED_WORDS);
    }

    /** {@return whether {@code filename*} takes precedence over {@code filename}} */
    public boolean preferExtendedFilename() {
        return isOn(Setting.PREFER_EXTENDED_FILENAME);
    }

    /** {@return the allocator of buffers; if none was set, Netty's pooled allocator, which this call initializes} */
    public ByteBufAllocator allocator() {
        return allocator != null ? allocator : NettyDefault.allocator();
    }

    /**
     * {@return whether an allocator was set. Netty's pooled allocator keeps caches in threads and a listener of the flight recorder in the
     * JVM. They prevent the unloading of an application, which must therefore not initialize it}
     */
    public boolean hasAllocator() {
        return allocator != null;
    }

    /** {@return the largest number of bytes of the whole multipart body ({@link Long#MAX_VALUE} if unlimited); beyond it {@link Reason#BODY_TOO_LARGE}} */
    public long maxBodyBytes() {
        return number(Setting.MAX_BODY_BYTES);
    }

    /** {@return the largest number of bytes of one part body ({@link Long#MAX_VALUE} if unlimited); beyond it {@link Reason#PART_TOO_LARGE}} */
    public long maxPartBytes() {
        return number(Setting.MAX_PART_BYTES);
    }

    /** {@return the largest number of bytes of one part read into memory as text ({@link Long#MAX_VALUE} if unlimited); beyond it {@link Reason#FIELD_TOO_LARGE}} */
    public long maxFieldBytes() {
        return number(Setting.MAX_FIELD_BYTES);
    }

    /** {@return the largest number of parts, with or without a file name ({@link Long#MAX_VALUE} if unlimited); beyond it {@link Reason#TOO_MANY_PARTS}} */
    public long maxParts() {
        return number(Setting.MAX_PARTS);
    }

    /** {@return the largest number of parts with a file name ({@link Long#MAX_VALUE} if unlimited); beyond it {@link Reason#TOO_MANY_FILES}} */
    public long maxFiles() {
        return number(Setting.MAX_FILES);
    }

    /** {@return the largest number of header fields of one part; beyond it {@link Reason#TOO_MANY_HEADERS}} */
    public int maxHeadersPerPart() {
        return (int) number(Setting.MAX_HEADERS_PER_PART);
    }

    /** {@return the largest number of bytes of the header section of one part, including line ends and the blank line; beyond it {@link Reason#HEADER_SECTION_TOO_LARGE}} */
    public int maxHeaderBytesPerPart() {
        return (int) number(Setting.MAX_HEADER_BYTES_PER_PART);
    }

    /** {@return the largest number of bytes of all header sections together ({@link Long#MAX_VALUE} if unlimited); beyond it {@link Reason#HEADERS_TOO_LARGE}} */
    public long maxHeaderBytes() {
        return number(Setting.MAX_HEADER_BYTES);
    }

    /** {@return the largest number of bytes before the first delimiter; beyond it {@link Reason#PREAMBLE_TOO_LARGE}} */
    public int maxPreambleBytes() {
        return (int) number(Setting.MAX_PREAMBLE_BYTES);
    }

    /** {@return the largest number of bytes after the line of the close-delimiter; beyond it {@link Reason#EPILOGUE_TOO_LARGE}} */
    public int maxEpilogueBytes() {
        return (int) number(Setting.MAX_EPILOGUE_BYTES);
    }

    /** A holder that loads Netty's pool on first use. */
    private static final class NettyDefault {
        static ByteBufAllocator allocator() {
            return PooledByteBufAllocator.DEFAULT;
        }
    }

    /** A builder of options. Not thread-safe. */
    public static final class Builder extends BodySettings<Builder> {
        private Builder(@Nullable MultipartOptions from) {
            super(Setting.Scope.BODY, from);
        }

        /** {@return the options} */
        public MultipartOptions build() {
            return collected();
        }
    }
}
