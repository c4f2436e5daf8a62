package dev.sluice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
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

    private final byte @Nullable [] array;

    /** A slice of the caller's buffer. It is not retained: the caller releases the buffer. */
    private final @Nullable ByteBuf buffer;

    private final StreamSource source;
    private final long length;

    /** Whether the stream has been claimed, if it can be read only once; null if the source can be read several times. */
    private final @Nullable AtomicBoolean used;

    private Content(
            byte @Nullable [] array,
            @Nullable ByteBuf buffer,
            StreamSource source,
            long length,
            @Nullable AtomicBoolean used) {
        this.array = array;
        this.buffer = buffer;
        this.source = Objects.requireNonNull(source, "source");
        this.length = length;
        this.used = used;
    }

    /** {@return content with this text, in UTF-8} */
    public static Content of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** {@return content with these bytes, which must not change until the body has been sent} */
    public static Content of(byte[] bytes) {
        return new Content(bytes, null, () -> new ByteArrayInputStream(bytes), bytes.length, null);
    }

    /**
     * {@return content with the readable bytes of a buffer, <em>borrowed</em> until the body has been sent. They must not change until
     * then}
     */
    public static Content of(ByteBuf bytes) {
        ByteBuf slice = bytes.slice();
        return new Content(null, slice, () -> new ByteBufInputStream(slice.duplicate()), slice.readableBytes(), null);
    }

    /**
     * {@return content with the bytes of a file; its length is the current size of the file}
     *
     * @throws IOException if the size cannot be read
     */
    public static Content of(Path file) throws IOException {
        return stream(() -> Files.newInputStream(file)).withLength(Files.size(file));
    }

    /** {@return content of unknown length, from a new stream each time it is sent} */
    public static Content stream(StreamSource source) {
        return new Content(null, null, source, UNKNOWN, null);
    }

    /** {@return content of unknown length that can be sent only once; {@code in} is closed after sending, even if it fails} */
    public static Content once(InputStream in) {
        Objects.requireNonNull(in, "in");
        return new Content(null, null, () -> in, UNKNOWN, new AtomicBoolean());
    }

    /**
     * {@return a copy of this content with a declared length} Sending fails if the content has more or fewer bytes.
     *
     * @throws IllegalArgumentException if {@code length} is negative
     */
    public Content withLength(long length) {
        if (length < 0) {
            throw new IllegalArgumentException("the length " + length + " is negative: omit it if it is unknown");
        }
        return new Content(null, null, source, length, used);
    }

    /** {@return the number of bytes; negative if it is unknown} */
    long length() {
        return length;
    }

    boolean isReplayable() {
        return used == null;
    }

    /** {@return whether the content may be sent now} This call claims content that can be sent only once: later calls return false. */
    boolean claim() {
        return used == null || !used.getAndSet(true);
    }

    /** Cancels the last {@link #claim}. */
    void unclaim() {
        if (used != null) {
            used.set(false);
        }
    }

    /** Closes the stream of claimed content that can be sent only once. */
    void discard() {
        if (used != null) {
            try {
                open().close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** {@return the bytes if the content is an array of at most {@code most} bytes; otherwise null} */
    byte @Nullable [] small(int most) {
        return array != null && array.length <= most ? array : null;
    }

    /** {@return whether {@link #bytes} returns a buffer and not null} */
    boolean isMemory(boolean sharing) {
        return array != null || buffer != null && sharing;
    }

    /**
     * {@return the bytes, <em>transferred</em> to the caller, or null if they must be read from a stream}
     *
     * @param sharing whether the buffer of the caller may be returned
     */
    @Nullable
    ByteBuf bytes(boolean sharing) {
        return array != null
                ? Unpooled.wrappedBuffer(array)
                : buffer != null && sharing ? buffer.retainedDuplicate() : null;
    }

    InputStream open() throws IOException {
        return Objects.requireNonNull(source.open(), "the StreamSource has returned null instead of a stream");
    }
}
