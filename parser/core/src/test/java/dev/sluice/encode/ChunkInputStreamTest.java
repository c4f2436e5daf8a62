package dev.sluice.encode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ChunkInputStreamTest {
    private static ByteBuf chunk(String text) {
        return Unpooled.buffer().writeBytes(text.getBytes());
    }

    @Test
    void end_withoutClose_releasesTheLastChunk() throws IOException {
        List<ByteBuf> given = List.of(chunk("ab"), chunk(""), chunk("c"));
        Queue<ByteBuf> chunks = new ArrayDeque<>(given);
        InputStream in = new ChunkInputStream(chunks::poll, () -> {});
        assertEquals("abc", new String(in.readAllBytes()));
        assertEquals(-1, in.read());
        assertEquals(0, given.stream().mapToInt(ByteBuf::refCnt).sum());
        in.close();
    }

    @Test
    void failure_isThrownByEachRead() throws IOException {
        ByteBuf chunk = chunk("a");
        IOException broken = new IOException("broken");
        AtomicInteger calls = new AtomicInteger();
        InputStream in = new ChunkInputStream(
                () -> switch (calls.incrementAndGet()) {
                    case 1 -> chunk;
                    case 2 -> throw broken;
                    default -> throw new IllegalStateException("called again after a failure");
                },
                () -> {});
        assertEquals('a', in.read());
        assertSame(broken, assertThrows(IOException.class, in::read));
        assertEquals(0, chunk.refCnt());
        assertSame(broken, assertThrows(IOException.class, () -> in.read(new byte[1])));
        in.close();
    }

    @Test
    void close_releasesTheChunkAndClosesTheBody() throws IOException {
        ByteBuf chunk = chunk("ab");
        AtomicInteger closed = new AtomicInteger();
        InputStream in = new ChunkInputStream(() -> chunk, closed::incrementAndGet);
        assertEquals('a', in.read());
        in.close();
        assertEquals(0, chunk.refCnt());
        assertEquals(1, closed.get());
        assertThrows(IOException.class, in::read);
    }
}
