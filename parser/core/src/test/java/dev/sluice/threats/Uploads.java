package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.Boundary;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PushedForm;
import dev.sluice.form.SpoolDirectory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Bodies of forms that use files, and what they leave behind. Text is ISO-8859-1. */
final class Uploads {
    static final Boundary BOUNDARY = Boundary.of("x");

    private Uploads() {}

    static String field(String name, String value) {
        return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }

    static String file(String name, String filename, String value) {
        return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename + "\"\r\n\r\n"
                + value + "\r\n";
    }

    /** Feeds {@code body[from..to)} in chunks. */
    static void feed(PushedForm assembler, ByteBufAllocator memory, byte[] body, int from, int to, int chunkSize)
            throws IOException {
        for (int at = from; at < to; at += chunkSize) {
            int count = Math.min(chunkSize, to - at);
            ByteBuf chunk = memory.buffer(count);
            assembler.feed(chunk.writeBytes(body, at, count));
        }
    }

    static void assertNothingIsLeft(SpoolDirectory spool, MemoryBudget budget, String context) throws IOException {
        assertEquals(0, spool.files(), context);
        assertEquals(0, spool.bytes(), context);
        assertEquals(List.of(), list(spool.path()), context);
        assertEquals(List.of(), openFilesIn(spool.path()), context);
        assertEquals(0, budget.used(), context);
    }

    static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        }
    }

    /** {@return what the open descriptors of this process refer to below {@code directory}} */
    static List<String> openFilesIn(Path directory) {
        String[] descriptors = new File("/proc/self/fd").list();
        return Stream.of(descriptors)
                .map(Uploads::target)
                .filter(target -> target.startsWith(directory + "/"))
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
