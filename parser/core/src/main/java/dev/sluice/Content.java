package dev.sluice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The content of a part of a {@link MultipartBody}. Thread-safe. */
public final class Content {
    /** A source that can be read several times. Each stream is closed after use. */
    @FunctionalInterface
    public interface StreamSource {
        /** {@return a new stream} */
        InputStream open() throws IOException;
    }

    private static final long UNKNOWN = -1;

    private final @Nullable ByteBuf bytes;

    /** Whether the bytes belong to the caller and can be released by it. */
    private final boolean borrowed;

    private final StreamSource source;
    private final long length;

    /** Whether the stream has been read; null if the source can be read several times. */
    private final @Nullable AtomicBoolean used;

    private Content(
            @Nullable ByteBuf bytes, boolean borrowed, StreamSource source, long length, @Nullable AtomicBoolean used) {
        this.bytes = bytes;
        this.borrowed = borrowed;
        this.source = Objects.requireNonNull(source, "source");
        this.length = length;
        this.used = used;
    }

    private static Content of(ByteBuf bytes, boolean borrowed) {
        StreamSource source = () -> new ByteBufInputStream(bytes.duplicate());
        return new Content(bytes, borrowed, source, bytes.readableBytes(), null);
    }

    /** {@return text in UTF-8} */
    public static Content of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** {@return these bytes, which are not copied and must not change} */
    public static Content of(byte[] bytes) {
        return of(Unpooled.wrappedBuffer(bytes), false);
    }

    /** {@return the readable bytes of a buffer, <em>borrowed</em> until the body has been sent} */
    public static Content of(ByteBuf bytes) {
        return of(bytes.slice(), true);
    }

    /**
     * {@return the content of a file, with the size that it has now}
     *
     * @throws IOException if the size cannot be read
     */
    public static Content of(Path file) throws IOException {
        return stream(() -> Files.newInputStream(file)).withLength(Files.size(file));
    }

    /** {@return content of unknown length, from a new stream each time it is sent} */
    public static Content stream(StreamSource source) {
        return new Content(null, false, source, UNKNOWN, null);
    }

    /** {@return content of unknown length that can be sent only once} */
    public static Content once(InputStream in) {
        Objects.requireNonNull(in, "in");
        return new Content(null, false, () -> in, UNKNOWN, new AtomicBoolean());
    }

    /**
     * {@return this content, which must have exactly {@code length} bytes}
     *
     * @throws IllegalArgumentException if {@code length} is negative
     */
    public Content withLength(long length) {
        if (length < 0) {
            throw new IllegalArgumentException("the length " + length + " is negative: omit it if it is unknown");
        }
        return new Content(null, false, source, length, used);
    }

    /** {@return the number of bytes, or less than 0 if it is unknown} */
    long length() {
        return length;
    }

    boolean isReplayable() {
        return used == null;
    }

    /** Takes the content if it can be sent only once. */
    void claim(String part) {
        if (used != null && used.getAndSet(true)) {
            throw new IllegalStateException(part
                    + " can be sent only once, because it is a stream: pass a StreamSource, which opens a new one");
        }
    }

    /** {@return the bytes (<em>borrowed</em>), or null if they must be read from a stream} */
    @Nullable
    ByteBuf bytes(boolean sharing) {
        return sharing || !borrowed ? bytes : null;
    }

    InputStream open() throws IOException {
        return Objects.requireNonNull(source.open(), "the StreamSource has returned null instead of a stream");
    }
}
