package dev.sluice.bench.jmh;

import dev.sluice.buffer.ChunkMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.ByteProcessor;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
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

/** Benchmarks of operations on buffers: Netty's methods and the methods that Sluice uses. */
public class BufferBenchmarks {
    @State(Scope.Thread)
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    public abstract static class OnBuffer {
        @Param("heap")
        public String memory;

        ByteBuf buffer;

        void fill(byte[] bytes) {
            PooledByteBufAllocator pool = PooledByteBufAllocator.DEFAULT;
            buffer = memory.equals("heap") ? pool.heapBuffer(bytes.length) : pool.directBuffer(bytes.length);
            buffer.writeBytes(bytes);
        }

        @TearDown(Level.Trial)
        public void close() {
            buffer.release();
        }
    }

    /** Decodes bytes of a buffer to a String (netty issue 8388). */
    public static class TextBenchmark extends OnBuffer {
        @Param("UTF-8")
        public String charset;

        /** "ascii" for US-ASCII letters only; "mixed" if every eighth letter is not US-ASCII. */
        @Param("ascii")
        public String content;

        /** The size in bytes. The content is one byte longer if its last letter has two bytes and does not fit. */
        @Param("64")
        public int size;

        private Charset encoding;
        private CharsetDecoder decoder;

        @Setup(Level.Trial)
        public void open() throws CharacterCodingException {
            encoding = Charset.forName(charset);
            decoder = encoding.newDecoder()
                    .onMalformedInput(CodingErrorAction.REPLACE)
                    .onUnmappableCharacter(CodingErrorAction.REPLACE);
            StringBuilder text = new StringBuilder();
            while (text.toString().getBytes(encoding).length < size) {
                boolean foreign = content.equals("mixed") && text.length() % 8 == 2;
                text.append(foreign ? '\u00e9' : (char) ('a' + text.length() % 26));
            }
            byte[] bytes = text.toString().getBytes(encoding);
            fill(bytes);
            String expected = text.toString();
            if (!sluice().equals(expected)
                    || !nettyToString().equals(expected)
                    || !charBuffer().equals(expected)) {
                throw new IllegalStateException("the benchmarks have different results");
            }
        }

        /** Creates the String from an array, as Sluice does after it has copied a header section to the heap. */
        @Benchmark
        public String sluice() {
            int index = buffer.readerIndex();
            int length = buffer.readableBytes();
            if (buffer.hasArray()) {
                return new String(buffer.array(), buffer.arrayOffset() + index, length, encoding);
            }
            byte[] bytes = new byte[length];
            buffer.getBytes(index, bytes);
            return new String(bytes, encoding);
        }

        @Benchmark
        public String nettyToString() {
            return buffer.toString(encoding);
        }

        /** Decodes to a CharBuffer, and copies its characters to a String. */
        @Benchmark
        public String charBuffer() throws CharacterCodingException {
            return decoder.decode(buffer.nioBuffer()).toString();
        }
    }

    /** Finds every CR in header text or in 64 KiB of random data (netty issues 9317 and 10623). */
    public static class ScanBenchmark extends OnBuffer {
        private static final String HEADERS = """
            Content-Disposition: form-data; name="photos"; filename="IMG_0001.jpg"\r
            Content-Type: image/jpeg\r
            Content-Transfer-Encoding: binary\r
            \r
            """;
        private static final int DATA = 64 * 1024;

        @Param("header")
        public String content;

        private final ChunkMemory chunk = new ChunkMemory();
        private final LineEnds lineEnds = new LineEnds();

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
            fill(bytes);
            int expected = readByte();
            if (byteProcessor() != expected || bytesBefore() != expected || chunkMemory() != expected) {
                throw new IllegalStateException("the benchmarks have different results");
            }
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

        /** Reads byte by byte through {@link ChunkMemory}. */
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

    /** Measures the cost of netty's checks of bounds and reference count, for accesses to 8 KiB (netty issue 8895). */
    @State(Scope.Thread)
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    public static class AccessBenchmark {
        private static final int SIZE = 8 * 1024;

        /**
         * The buffer: heap, direct, direct-no-unsafe, slice (of a direct buffer) or composite (of two direct buffers).
         */
        @Param("heap")
        public String kind;

        /** The checks: on, bounds-off, accessible-off or off; must agree with the JVM arguments. */
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
                    pool.directBuffer(2 * SIZE)
                            .writeZero(SIZE)
                            .writeBytes(bytes)
                            .slice(SIZE, SIZE);
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
                throw new IllegalStateException("the benchmarks have different results");
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

        /** Reads byte by byte through {@link ChunkMemory}, which checks the chunk only when it is opened. */
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
}
