package dev.sluice.bench.jmh;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Scenario;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.DelimiterSearch;
import io.netty.buffer.ByteBuf;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
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

/** Benchmarks that process whole bodies. */
public class BodyBenchmarks {
    /** Decodes a body with a parser. The chunks are prepared in advance unless {@link Memory} says otherwise. */
    @State(Scope.Thread)
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public static class PeerBenchmark {
        @Param("sluice-push")
        public String peer;

        @Param("fields-100")
        public String scenario;

        /** The chunk size in bytes; 0 for the chunks of the scenario, {@link Integer#MAX_VALUE} for a single chunk. */
        @Param("8192")
        public int chunk;

        @Param("heap")
        public String memory;

        /** The leak detection level of the netty version that the parser uses. */
        @Param("DISABLED")
        public String level;

        /** "right" or "wrong": whether the parser is expected to return the correct result. It is timed in either case. */
        @Param("right")
        public String outcome;

        private Peer parser;
        private final Tally tally = Tally.counting();

        @Setup(Level.Trial)
        public void open() {
            Body body = Scenario.of(scenario).body();
            PeerKind kind = PeerKind.of(peer);
            parser = kind.open(body, chunk, Memory.of(memory));
            parser.leakLevel(level);
            Optional<String> wrong = kind.wrong(parser, body);
            if (wrong.isPresent() == outcome.equals("right")) {
                throw new IllegalStateException(peer + " " + wrong.orElse("unexpectedly returns the correct result"));
            }
        }

        @TearDown(Level.Trial)
        public void close() {
            parser.close();
        }

        @Benchmark
        public long decode() throws Exception {
            tally.reset();
            parser.run(tally);
            return tally.bytes();
        }
    }

    /** The cost of only reading or copying the bytes: lower bounds that no parser is expected to beat. */
    @State(Scope.Thread)
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public static class FloorBenchmark {
        private static final VarHandle ARRAY_WORD =
                MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
        private static final VarHandle BUFFER_WORD =
                MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
        private static final int HOT = 64 * 1024;

        @Param("random-16m")
        public String scenario;

        @Param("8192")
        public int chunk;

        @Param("heap")
        public String memory;

        private final byte[] target = new byte[HOT];
        private final ChunkMemory open = new ChunkMemory();
        private ByteBufChunks chunks;
        private DelimiterSearch search;
        private boolean heap;

        @Setup(Level.Trial)
        public void open() {
            Body body = Scenario.of(scenario).body();
            List<Slice> cut = body.cut(chunk);
            chunks = new ByteBufChunks(cut, Memory.of(memory));
            heap = Memory.of(memory) == Memory.HEAP;
            search = new DelimiterSearch(Delimiter.of(body.boundary().getBytes(StandardCharsets.US_ASCII)), false);
            if (searchDelimiter() != body.truth().parts()) {
                throw new IllegalStateException("The search must find the delimiter after each part");
            }
            long words = 0;
            long returns = 0;
            for (Slice slice : cut) {
                ByteBuffer bytes = slice.bytes().order(ByteOrder.nativeOrder());
                while (bytes.remaining() >= Long.BYTES) {
                    words += bytes.getLong();
                }
                for (int i = 0; i < slice.length(); i++) {
                    returns += slice.array()[slice.offset() + i] == '\r' ? 1 : 0;
                }
            }
            if (readWords() != words || bytesBefore() != returns || copy() != body.size()) {
                throw new IllegalStateException("A floor benchmark did not read every byte");
            }
        }

        @TearDown(Level.Trial)
        public void close() {
            chunks.close();
        }

        /** Adds up all whole words of each chunk. */
        @Benchmark
        public long readWords() {
            long sum = 0;
            for (int i = 0; i < chunks.count(); i++) {
                ByteBuf bytes = chunks.next(i);
                int length = bytes.readableBytes();
                sum += heap
                        ? sum(bytes.array(), bytes.arrayOffset(), length)
                        : sum(bytes.internalNioBuffer(0, length), length);
                bytes.release();
            }
            return sum;
        }

        private static long sum(byte[] array, int offset, int length) {
            long sum = 0;
            for (int i = 0; i <= length - Long.BYTES; i += Long.BYTES) {
                sum += (long) ARRAY_WORD.get(array, offset + i);
            }
            return sum;
        }

        private static long sum(ByteBuffer buffer, int length) {
            long sum = 0;
            int offset = buffer.position();
            for (int i = 0; i <= length - Long.BYTES; i += Long.BYTES) {
                sum += (long) BUFFER_WORD.get(buffer, offset + i);
            }
            return sum;
        }

        /** Visits every CR with netty's own search. */
        @Benchmark
        public long bytesBefore() {
            long found = 0;
            for (int i = 0; i < chunks.count(); i++) {
                ByteBuf bytes = chunks.next(i);
                for (int before; (before = bytes.bytesBefore((byte) '\r')) >= 0; found++) {
                    bytes.skipBytes(before + 1);
                }
                bytes.release();
            }
            return found;
        }

        /** Runs Sluice's delimiter search without the rest of the decoder. */
        @Benchmark
        public long searchDelimiter() {
            long found = 0;
            search.reset();
            for (int i = 0; i < chunks.count(); i++) {
                open.open(chunks.next(i));
                int at = open.start();
                while (at < open.end()) {
                    at = search.matchEnd() == 0
                            ? search.find(open, at, open.end())
                            : search.resume(open, at, open.end());
                    if (search.isComplete()) {
                        found++;
                        search.reset();
                        at++;
                    } else if (search.matchEnd() > 0 && at < open.end()) {
                        at = open.end();
                    }
                }
                open.close();
            }
            return found;
        }

        /** Copies every byte to memory that stays in the processor cache. */
        @Benchmark
        public long copy() {
            long copied = 0;
            for (int i = 0; i < chunks.count(); i++) {
                ByteBuf bytes = chunks.next(i);
                int length = bytes.readableBytes();
                bytes.readBytes(target, 0, length);
                copied += length;
                bytes.release();
            }
            return copied;
        }
    }
}
