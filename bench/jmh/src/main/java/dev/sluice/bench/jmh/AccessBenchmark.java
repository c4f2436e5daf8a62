package dev.sluice.bench.jmh;

import dev.sluice.buffer.ChunkMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
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

/** What netty's checks of bounds and of the reference count cost per access over 8 KiB (netty issue 8895). */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AccessBenchmark {
    private static final int SIZE = 8 * 1024;

    /** heap, direct, direct-no-unsafe, slice (of direct) or composite (of two direct halves). */
    @Param("heap")
    public String kind;

    /** on, bounds-off, accessible-off or off; must be what the JVM was started with. */
    @Param("on")
    public String checks;

    private final ChunkMemory chunk = new ChunkMemory();
    private ByteBuf buffer;

    @Setup(Level.Trial)
    public void open() {
        if (isOn("checkBounds") != (checks.equals("on") || checks.equals("accessible-off"))
                || isOn("checkAccessible") != (checks.equals("on") || checks.equals("bounds-off"))) {
            throw new IllegalStateException("the JVM was not started with checks " + checks);
        }
        byte[] bytes = new byte[SIZE];
        new Random(12).nextBytes(bytes);
        PooledByteBufAllocator pool = PooledByteBufAllocator.DEFAULT;
        buffer = switch (kind) {
            case "heap" -> pool.heapBuffer(SIZE).writeBytes(bytes);
            case "direct" -> pool.directBuffer(SIZE).writeBytes(bytes);
            case "direct-no-unsafe" -> withoutUnsafe(pool.directBuffer(SIZE).writeBytes(bytes));
            case "slice" ->
                pool.directBuffer(2 * SIZE).writeZero(SIZE).writeBytes(bytes).slice(SIZE, SIZE);
            case "composite" ->
                Unpooled.wrappedBuffer(
                        pool.directBuffer(SIZE).writeBytes(bytes, 0, SIZE / 2),
                        pool.directBuffer(SIZE).writeBytes(bytes, SIZE / 2, SIZE / 2));
            default -> throw new IllegalArgumentException(kind);
        };
        long sum = 0;
        for (byte b : bytes) {
            sum += b;
        }
        if (readBytes() != sum || getBytes() != sum || oncePerChunk() != sum) {
            throw new IllegalStateException("the ways do not agree");
        }
    }

    private static boolean isOn(String check) {
        return Boolean.parseBoolean(System.getProperty("io.netty.buffer." + check, "true"));
    }

    private static ByteBuf withoutUnsafe(ByteBuf made) {
        if (!Boolean.getBoolean("io.netty.noUnsafe")) {
            throw new IllegalStateException("the JVM was not started without Unsafe");
        }
        return made;
    }

    @TearDown(Level.Trial)
    public void close() {
        buffer.release();
    }

    @Benchmark
    public long readBytes() {
        buffer.readerIndex(0);
        long sum = 0;
        for (int i = 0; i < SIZE; i++) {
            sum += buffer.readByte();
        }
        buffer.readerIndex(0);
        return sum;
    }

    @Benchmark
    public long getBytes() {
        long sum = 0;
        for (int i = 0; i < SIZE; i++) {
            sum += buffer.getByte(i);
        }
        return sum;
    }

    @Benchmark
    public long getLongs() {
        long sum = 0;
        for (int i = 0; i < SIZE; i += Long.BYTES) {
            sum += buffer.getLong(i);
        }
        return sum;
    }

    @Benchmark
    public ByteBuf setLongs() {
        for (int i = 0; i < SIZE; i += Long.BYTES) {
            buffer.setLong(i, buffer.getLong(i));
        }
        return buffer;
    }

    /** Byte by byte through Sluice's view of the chunk: checked when the chunk is opened, not per access. */
    @Benchmark
    public long oncePerChunk() {
        chunk.open(buffer.retain());
        long sum = 0;
        for (int i = chunk.start(); i < chunk.end(); i++) {
            sum += chunk.getByte(i);
        }
        chunk.close();
        return sum;
    }
}
