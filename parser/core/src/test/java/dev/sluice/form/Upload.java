package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.Boundary;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Writes upload bodies with the boundary {@code x}, and looks at what they leave behind. Text is ISO-8859-1: one char,
 * one byte.
 */
public final class Upload {
    public static final Boundary BOUNDARY = Boundary.of("x");

    private final StringBuilder body = new StringBuilder();

    Upload field(String name, String value) {
        return part("Content-Disposition: form-data; name=\"" + name + "\"\r\n", value);
    }

    public Upload file(String name, String filename, String value) {
        return part("Content-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename + "\"\r\n", value);
    }

    Upload part(String headers, String value) {
        body.append("--x\r\n").append(headers).append("\r\n").append(value).append("\r\n");
        return this;
    }

    byte[] toBytes() {
        return (body + "--x--\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    InputStream toStream() {
        return new ByteArrayInputStream(toBytes());
    }

    public MultipartForm read(FormOptions options) throws IOException {
        return PushedForm.read(toStream(), BOUNDARY, options);
    }

    /** Feeds {@code bytes[from..to)} in chunks of pooled memory outside of the heap. */
    public static void feed(PushedForm assembler, byte[] bytes, int from, int to, int chunkSize) throws IOException {
        for (int at = from; at < to; at += chunkSize) {
            int count = Math.min(chunkSize, to - at);
            ByteBuf chunk = PooledByteBufAllocator.DEFAULT.directBuffer(count);
            assembler.feed(chunk.writeBytes(bytes, at, count));
        }
    }

    public static List<Path> list(Path directory) {
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** No file, no descriptor, no charge: at once, without a collection. */
    public static void assertNothingIsLeft(SpoolDirectory spool, MemoryBudget budget, String context) {
        assertEquals(0, spool.files(), context);
        assertEquals(0, spool.bytes(), context);
        assertEquals(List.of(), list(spool.path()), context);
        assertEquals(List.of(), openFilesIn(spool.path()), context);
        assertEquals(0, budget.used(), context);
    }

    /**
     * {@return what the open descriptors of this process refer to below {@code directory}; without waiting for a
     * collection}
     */
    public static List<String> openFilesIn(Path directory) {
        String below = directory + "/";
        String[] descriptors = new File("/proc/self/fd").list();
        return Stream.of(descriptors)
                .map(Upload::target)
                .filter(target -> target.startsWith(below))
                .toList();
    }

    private static String target(String descriptor) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd", descriptor)).toString();
        } catch (IOException e) {
            return ""; // closed meanwhile
        }
    }
}
