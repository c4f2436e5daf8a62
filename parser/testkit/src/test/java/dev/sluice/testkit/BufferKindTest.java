package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(LeakCheck.class)
class BufferKindTest {
    private static final byte[] SOURCE =
            "0123456789 and so on and on".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

    @ParameterizedTest
    @EnumSource
    void wrap_holdsBytesWithOneReference(BufferKind kind) {
        for (int to = 3; to <= SOURCE.length; to++) {
            ByteBuf buffer = kind.wrap(SOURCE, 3, to);
            assertEquals(1, buffer.refCnt());
            assertArrayEquals(Arrays.copyOfRange(SOURCE, 3, to), ByteBufUtil.getBytes(buffer));
            assertTrue(buffer.release());
        }
        assertEquals(0, BufferKind.open());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ_ONLY_NIO")
    void open_countsBufferUntilRelease(BufferKind kind) {
        ByteBuf buffer = kind.wrap(SOURCE, 0, 20);
        assertTrue(BufferKind.open() > 0);
        ByteBuf slice = buffer.retainedSlice(0, 1);
        assertFalse(buffer.release());
        assertTrue(BufferKind.open() > 0);
        slice.release();
        assertEquals(0, BufferKind.open());
    }

    @ParameterizedTest
    @CsvSource({
        "HEAP, true, false, false, false",
        "DIRECT, false, true, false, false",
        "POOLED_HEAP, true, false, false, false",
        "POOLED_DIRECT, false, true, false, false",
        "LEAK_AWARE_HEAP, true, false, false, true",
        "LEAK_AWARE_DIRECT, false, true, false, true",
        "PARANOID_HEAP, true, false, false, true",
        "PARANOID_DIRECT, false, true, false, true",
        "SLICE_HEAP, true, false, false, false",
        "SLICE_DIRECT, false, true, false, false",
        "READ_ONLY_HEAP, false, false, true, false",
        "READ_ONLY_DIRECT, false, true, true, false",
        "READ_ONLY_NIO, false, true, true, false"
    })
    void kinds_haveDocumentedProperties(
            BufferKind kind, boolean array, boolean direct, boolean readOnly, boolean leakAware) {
        ByteBuf buffer = kind.wrap(SOURCE, 0, 20);
        assertEquals(array, buffer.hasArray(), kind + " has an array");
        assertEquals(direct, buffer.isDirect(), kind + " is direct");
        assertEquals(readOnly, buffer.isReadOnly(), kind + " is read-only");
        assertEquals(leakAware, buffer.getClass().getSimpleName().contains("LeakAware"), kind + " is wrapped");
        buffer.release();
    }

    @Test
    void composite_hasComponents_andSliceIsWindow() {
        ByteBuf composite = BufferKind.COMPOSITE.wrap(SOURCE, 0, 20);
        assertTrue(((CompositeByteBuf) composite).numComponents() > 3);
        composite.release();
        ByteBuf slice = BufferKind.SLICE_HEAP.wrap(SOURCE, 0, 20);
        assertTrue(slice.readerIndex() > 0 && slice.arrayOffset() > 0 && slice.writerIndex() < slice.capacity());
        slice.release();
    }

    @Test
    void paranoidKinds_recordAccesses() {
        ByteBuf paranoid = BufferKind.PARANOID_DIRECT.wrap(SOURCE, 0, 20);
        ByteBuf counted = BufferKind.LEAK_AWARE_DIRECT.wrap(SOURCE, 0, 20);
        long before = LeakDetection.recorded();
        counted.getByte(0);
        paranoid.unwrap().getByte(0);
        assertEquals(before, LeakDetection.recorded());
        paranoid.getByte(0);
        assertEquals(before + 1, LeakDetection.recorded());
        paranoid.release();
        counted.release();
    }
}
