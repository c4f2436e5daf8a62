package dev.sluice.form.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Content without a form. */
class StoredContentTest {
    @Test
    void bytes_ofContentThatDoesNotFitIntoAnArray_throwIOException() throws IOException {
        try (StoredContent large = new StoredContent(null, new LargeStorage(), 0)) {
            assertEquals(
                    "the content has 2147483640 bytes, too many for an array: read it as a stream",
                    assertThrows(IOException.class, large::bytes).getMessage());
        }
    }

    @Test
    void atomicFile_contentThrowsAnError_isDeleted(@TempDir Path directory) throws IOException {
        AtomicFile.Content broken = channel -> {
            throw new OutOfMemoryError("on purpose");
        };
        Path target = directory.resolve("target");
        assertThrows(OutOfMemoryError.class, () -> AtomicFile.write(target, false, broken));
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(0, left.count());
        }
    }

    /** Content of more bytes than an array can have. */
    private static final class LargeStorage implements StoredContent.Storage {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        public long size() {
            return Integer.MAX_VALUE - 7;
        }

        @Override
        public InputStream read() {
            throw new AssertionError("the content is read");
        }

        @Override
        public boolean write(ByteBuf data) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void complete() {}

        @Override
        public ReentrantLock lock() {
            return lock;
        }

        @Override
        public void moveTo(Path target, boolean replace) {
            throw new UnsupportedOperationException();
        }

        @Override
        public StoredContent.Storage detach() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
