package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.RawHttp;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that disconnect during an upload. {@link UploadServer#close} returns after the clean-up, so tests need not poll for it. */
@Timeout(300)
class AbortTest {
    @TempDir
    Path directory;

    private static byte[] request(int size) {
        return TestForm.request(
                "/upload",
                new TestForm()
                        .field("a", "1")
                        .file("f", "first.bin", TestForm.noise(size / 3, 1))
                        .file("g", "second.bin", TestForm.noise(size, 2))
                        .body());
    }

    private void assertNothingIsLeft() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(), files.toList());
        }
        assertEquals(0, PooledByteBufAllocator.DEFAULT.pinnedDirectMemory());
        assertEquals(0, PooledByteBufAllocator.DEFAULT.pinnedHeapMemory());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void disconnectAtAnyPoint_leavesNothing(boolean reset) throws IOException {
        byte[] request = request(1500);
        try (UploadServer server = UploadServer.start(ServerConfig.of(directory))) {
            for (int cut = 0; cut < request.length; cut += 7) {
                try (RawHttp connection = new RawHttp(server.port())) {
                    connection.send(request, 0, cut);
                    if (reset) {
                        connection.reset();
                    }
                }
            }
        }
        assertNothingIsLeft();
    }

    @Test
    void close_duringUploads_leavesNothing() throws IOException {
        byte[] large = request(2_000_000);
        RawHttp[] connections = new RawHttp[8];
        try (UploadServer server = UploadServer.start(ServerConfig.of(directory))) {
            for (int i = 0; i < connections.length; i++) {
                connections[i] = new RawHttp(server.port());
                connections[i].send(large, 0, large.length - 1 - i * large.length / 20);
            }
        }
        for (RawHttp connection : connections) {
            connection.close();
        }
        assertNothingIsLeft();
    }

    @Test
    void rejectedUpload_clientDisconnects_leavesNothing() throws IOException {
        byte[] bad = new TestForm()
                .file("f", "a.bin", TestForm.noise(200_000, 3))
                .part("Broken", new byte[10])
                .body();
        String head = TestForm.head("/upload", 10L * bad.length);
        try (UploadServer server = UploadServer.start(ServerConfig.of(directory))) {
            for (int i = 0; i < 50; i++) {
                RawHttp connection = new RawHttp(server.port());
                connection.send(head).send(bad);
                connection.reset();
            }
        }
        assertNothingIsLeft();
    }
}
