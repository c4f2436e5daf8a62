package dev.sluice;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a decoder or reader accepts, how much of it, and how it reads text. Immutable and thread-safe: make one for the
 * process and share it.
 */
public final class MultipartOptions {
    /** The bytes that the grammar of header fields knows. */
    private static final String ASCII = "\t !\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~";

    private static final MultipartOptions DEFAULTS = builder().build();

    private final Preset preset;
    private final Limits limits;
    private final Charset headerCharset;
    private final boolean decodePercentEscapes;
    private final @Nullable ByteBufAllocator allocator;

    private MultipartOptions(Builder builder) {
        this.preset = builder.preset;
        this.limits = builder.limits;
        this.headerCharset = builder.headerCharset;
        this.decodePercentEscapes = builder.decodePercentEscapes;
        this.allocator = builder.allocator;
    }

    /** {@return {@link Preset#STANDARD}, {@link Limits#defaults()}, UTF-8 headers, escapes literal, netty's pooled allocator} */
    public static MultipartOptions defaults() {
        return DEFAULTS;
    }

    /** {@return a builder that starts from the {@linkplain #defaults() defaults}} */
    public static Builder builder() {
        return new Builder();
    }

    /** {@return a builder that starts from these options} */
    public Builder toBuilder() {
        Builder builder = new Builder()
                .preset(preset)
                .limits(limits)
                .headerCharset(headerCharset)
                .decodePercentEscapes(decodePercentEscapes);
        builder.allocator = allocator;
        return builder;
    }

    /** {@return which deviations are accepted} */
    public Preset preset() {
        return preset;
    }

    /** {@return how much of everything is accepted} */
    public Limits limits() {
        return limits;
    }

    /** {@return the charset of header field values, names and file names} */
    public Charset headerCharset() {
        return headerCharset;
    }

    /** {@return whether {@code %22}, {@code %0D} and {@code %0A} in a name or file name are decoded} */
    public boolean decodePercentEscapes() {
        return decodePercentEscapes;
    }

    /** {@return where buffers come from; netty's pooled allocator, which is started now, where none was set} */
    public ByteBufAllocator allocator() {
        return allocator != null ? allocator : PooledByteBufAllocator.DEFAULT;
    }

    /**
     * {@return whether an allocator was set. Netty's pooled one keeps caches on threads and a listener of the flight
     * recorder in the JVM, which an application that shall be unloaded must not even start}
     */
    public boolean hasAllocator() {
        return allocator != null;
    }

    /** Collects options; not thread-safe. */
    public static final class Builder {
        private Preset preset = Preset.STANDARD;
        private Limits limits = Limits.defaults();
        private Charset headerCharset = StandardCharsets.UTF_8;
        private boolean decodePercentEscapes;
        private @Nullable ByteBufAllocator allocator;

        private Builder() {}

        /**
         * Sets which deviations are accepted; {@link Preset#STANDARD} by default.
         *
         * @return this builder
         */
        public Builder preset(Preset preset) {
            this.preset = Objects.requireNonNull(preset, "preset");
            return this;
        }

        /**
         * Sets how much of everything is accepted; {@link Limits#defaults()} by default.
         *
         * @return this builder
         */
        public Builder limits(Limits limits) {
            this.limits = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /**
         * Sets the charset of header field values, names and file names; UTF-8 by default (RFC 7578 section 5.1). It has to
         * be a superset of US-ASCII: the grammar is read byte by byte, so that in charsets whose characters may end with the byte of
         * a backslash (Shift_JIS, GBK, Big5) some quoted values are misread.
         *
         * @return this builder
         * @throws IllegalArgumentException if US-ASCII bytes mean something else in {@code charset}, as in UTF-16
         */
        public Builder headerCharset(Charset charset) {
            if (!ASCII.equals(new String(ASCII.getBytes(StandardCharsets.US_ASCII), charset))) {
                throw new IllegalArgumentException(
                        charset + " is not a superset of US-ASCII: pass UTF-8 or another one that is");
            }
            this.headerCharset = charset;
            return this;
        }

        /**
         * Sets whether the three escapes that browsers put into names and file names ({@code %22}, {@code %0D} and
         * {@code %0A}, WHATWG form submission) are decoded; off by default, because a client that sends them literally is
         * not told apart.
         *
         * @return this builder
         */
        public Builder decodePercentEscapes(boolean decode) {
            this.decodePercentEscapes = decode;
            return this;
        }

        /**
         * Sets where buffers come from; netty's pooled allocator by default.
         *
         * @return this builder
         */
        public Builder allocator(ByteBufAllocator allocator) {
            this.allocator = Objects.requireNonNull(allocator, "allocator");
            return this;
        }

        /** {@return the options collected so far} */
        public MultipartOptions build() {
            return new MultipartOptions(this);
        }
    }
}
