package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.Boundary;
import dev.sluice.testkit.OpenFiles;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A builder of bodies with the boundary {@code x}, and checks for leftovers. Text is ISO-8859-1, one byte per char. */
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

    /** Adds a part that contains a body with the boundary {@code y}. */
    Upload nested(String name, String value) {
        String disposition = "Content-Disposition: form-data; name=" + name + "\r\n";
        return part(disposition + "Content-Type: multipart/mixed; boundary=y\r\n", value);
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

    /** {@return a form of this body that has its last byte, but not its end} */
    PushedForm receive(FormOptions options) throws IOException {
        PushedForm form = PushedForm.create(BOUNDARY, options);
        byte[] body = toBytes();
        feed(form, body, 0, body.length, 1000);
        return form;
    }

    /** Feeds {@code bytes[from..to)} in chunks of pooled direct memory. */
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

    /** Asserts that no file, open descriptor or charge is left. Does not wait for a garbage collection. */
    public static void assertNothingIsLeft(SpoolDirectory spool, MemoryBudget budget, String context) {
        assertEquals(0, spool.files(), context);
        assertEquals(0, spool.bytes(), context);
        assertEquals(List.of(), list(spool.path()), context);
        assertEquals(List.of(), OpenFiles.below(spool.path()), context);
        assertEquals(0, budget.used(), context);
        assertEquals(0, budget.waiting.bytes(), context);
    }
}
