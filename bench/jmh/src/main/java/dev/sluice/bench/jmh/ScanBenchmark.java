package dev.sluice.bench.jmh;

import dev.sluice.buffer.ChunkMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ByteProcessor;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Visiting every line end of a buffer (netty issues 9317 and 10623), over header text and over 64 KiB of random data. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ScanBenchmark {
    private static final String HEADERS = """
        Content-Disposition: form-data; name="photos"; filename="IMG_0001.jpg"\r
        Content-Type: image/jpeg\r
        Content-Transfer-Encoding: binary\r
        \r
        """;
    private static final int DATA = 64 * 1024;

    @Param("header")
    public String content;

    @Param("heap")
    public String memory;

    private final ChunkMemory chunk = new ChunkMemory();
    private final LineEnds lineEnds = new LineEnds();
    private ByteBuf buffer;

    private static final class LineEnds implements ByteProcessor {
        private int count;

        @Override
        public boolean process(byte value) {
            if (value == '\r') {
                count++;
            }
            return true;
        }
    }

    @Setup(Level.Trial)
    public void open() {
        byte[] bytes = HEADERS.getBytes(StandardCharsets.US_ASCII);
        if (content.equals("data")) {
            bytes = new byte[DATA];
            new Random(11).nextBytes(bytes);
            bytes[DATA - 1] = 'x';
        }
        buffer = memory.equals("heap")
                ? PooledByteBufAllocator.DEFAULT.heapBuffer(bytes.length)
                : PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length);
        buffer.writeBytes(bytes);
        int expected = readByte();
        if (byteProcessor() != expected || bytesBefore() != expected || chunkMemory() != expected) {
            throw new IllegalStateException("the ways do not agree");
        }
    }

    @TearDown(Level.Trial)
    public void close() {
        buffer.release();
    }

    @Benchmark
    public int readByte() {
        buffer.readerIndex(0);
        int count = 0;
        while (buffer.isReadable()) {
            if (buffer.readByte() == '\r') {
                count++;
            }
        }
        buffer.readerIndex(0);
        return count;
    }

    @Benchmark
    public int byteProcessor() {
        lineEnds.count = 0;
        buffer.forEachByte(lineEnds);
        return lineEnds.count;
    }

    @Benchmark
    public int bytesBefore() {
        int count = 0;
        int end = buffer.writerIndex();
        for (int at = 0, before; (before = buffer.bytesBefore(at, end - at, (byte) '\r')) >= 0; at += before + 1) {
            count++;
        }
        return count;
    }

    /** Byte by byte, the memory looked up once. */
    @Benchmark
    public int chunkMemory() {
        chunk.open(buffer.retain());
        int count = 0;
        for (int at = chunk.start(); at < chunk.end(); at++) {
            if (chunk.getByte(at) == '\r') {
                count++;
            }
        }
        chunk.close();
        return count;
    }
}
