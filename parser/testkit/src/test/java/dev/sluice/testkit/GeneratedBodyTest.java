package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeakCheck.class)
class GeneratedBodyTest {
    @Test
    void theBodyIsSoundAndItsFileChecks() throws Exception {
        GeneratedBody body = GeneratedBody.of(200_000);
        byte[] all = body.readAllBytes();
        assertEquals(body.size(), all.length);
        Outcome outcome = ReferenceParser.parse(GeneratedBody.CONTENT_TYPE, all, "STRICT");
        assertEquals("ok", outcome.verdict());
        byte[] data = outcome.parts().get(0).body();
        GeneratedBody.Check check = new GeneratedBody.Check();
        check.accept(data, 0, data.length);
        assertEquals(200_000, check.count());
        assertEquals(GeneratedBody.dataOffset(), outcome.parts().get(0).bodyOffset());
    }

    @Test
    void aBufferGetsTheSameBytes() throws Exception {
        ByteBuf buffer = UnpooledByteBufAllocator.DEFAULT.directBuffer();
        GeneratedBody body = GeneratedBody.of(1000);
        while (body.writeTo(buffer, 7) > 0) {
            assertEquals(body.size(), body.remaining() + buffer.readableBytes());
        }
        assertArrayEquals(GeneratedBody.of(1000).readAllBytes(), ByteBufUtil.getBytes(buffer));
        buffer.release();
    }

    @Test
    void oneByteLostDoubledOrMovedIsFound() {
        byte[] data = new byte[70_000];
        for (int i = 0; i < data.length; i++) {
            data[i] = GeneratedBody.b(i);
        }
        for (int at : new int[] {0, 1, 255, 256, 65_535}) {
            byte[] lost = Arrays.copyOf(data, data.length - 1);
            System.arraycopy(data, at + 1, lost, at, lost.length - at);
            assertThrows(AssertionError.class, () -> new GeneratedBody.Check().accept(lost, 0, lost.length));
            byte[] doubled = Arrays.copyOf(data, data.length);
            System.arraycopy(data, at, doubled, at + 1, data.length - at - 1);
            assertThrows(AssertionError.class, () -> new GeneratedBody.Check().accept(doubled, 0, doubled.length));
        }
    }

    @Test
    void theSizeMayBeBeyondAnInt() {
        GeneratedBody body = GeneratedBody.of(5L << 30);
        assertTrue(body.size() > 5L << 30);
        assertEquals('-', body.read());
        assertEquals(body.size() - 1, body.remaining());
        assertThrows(IllegalArgumentException.class, () -> GeneratedBody.of(-1));
    }
}
