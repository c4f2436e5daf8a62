package dev.sluice.bench.jmh;

import dev.sluice.Boundary;
import dev.sluice.FormRelay;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartOptions;
import dev.sluice.NameEscaping;
import dev.sluice.bench.jmh.FormWriter.Part;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Scenario;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import dev.sluice.encode.HeadWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

/** Benchmarks of writing and relaying forms. */
public class WriteBenchmarks {
    private static List<Tally.Part> read(String contentType, byte[] body) throws IOException {
        Tally tally = Tally.recording();
        try (SluiceDecoding decoding =
                new SluiceDecoding(Boundary.formData(contentType), MultipartOptions.defaults(), tally)) {
            decoding.offer(Unpooled.wrappedBuffer(body));
            decoding.finish();
        }
        return tally.parts();
    }

    /** Creates a form and writes it to a stream that copies each byte, as a socket does, to memory that stays in the processor cache. */
    @State(Scope.Thread)
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public static class WriteBenchmark {
        @Param("sluice")
        public String writer;

        @Param("fields-100")
        public String scenario;

        /** Where the content of files is: "memory" or "file". */
        @Param("memory")
        public String content;

        private final Cache out = new Cache();
        private final List<Part> parts = new ArrayList<>();
        private final List<Path> files = new ArrayList<>();
        private FormWriter library;

        /** The target of all writers. */
        private static final class Cache extends OutputStream {
            private final byte[] memory = new byte[64 * 1024];
            private int at;
            private long count;

            @Override
            public void write(int b) {
                at = at == memory.length ? 0 : at;
                memory[at++] = (byte) b;
                count++;
            }

            @Override
            public void write(byte[] bytes, int from, int length) {
                count += length;
                for (int done = 0, size; done < length; done += size) {
                    at = at == memory.length ? 0 : at;
                    size = Math.min(length - done, memory.length - at);
                    System.arraycopy(bytes, from + done, memory, at, size);
                    at += size;
                }
            }
        }

        @Setup(Level.Trial)
        public void open() throws Exception {
            Body body = Scenario.of(scenario).body();
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            for (Slice slice : body.cut(0)) {
                whole.write(slice.array(), slice.offset(), slice.length());
            }
            List<Tally.Part> expected = read(body.contentType(), whole.toByteArray());
            for (Tally.Part part : expected) {
                boolean isFile = part.filename() != null;
                Path file = null;
                if (isFile && content.equals("file")) {
                    file = Files.createTempDirectory("sluice-bench").resolve(part.filename());
                    files.add(Files.write(file, part.content()));
                }
                parts.add(new Part(
                        part.name(),
                        part.filename(),
                        isFile ? "application/octet-stream" : null,
                        isFile ? null : new String(part.content(), StandardCharsets.UTF_8),
                        part.content(),
                        file));
            }
            library = FormWriter.of(writer);
            ByteArrayOutputStream written = new ByteArrayOutputStream();
            String contentType = library.write(parts, written);
            if (contentType != null && !same(expected, read(contentType, written.toByteArray()))) {
                throw new IllegalStateException(writer + " does not write the expected form");
            }
        }

        private static boolean same(List<Tally.Part> ours, List<Tally.Part> theirs) {
            boolean same = ours.size() == theirs.size();
            for (int i = 0; same && i < ours.size(); i++) {
                same = ours.get(i).same(theirs.get(i));
            }
            return same;
        }

        @TearDown(Level.Trial)
        public void close() throws IOException {
            for (Path file : files) {
                Files.delete(file);
                Files.delete(file.getParent());
            }
        }

        @Benchmark
        public long write() throws Exception {
            library.write(parts, out);
            return out.count;
        }
    }

    /** Decodes a form in chunks of 8 KiB, or decodes it and encodes it again. */
    @State(Scope.Thread)
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    public static class RelayBenchmark {
        @Param("random-16m")
        public String scenario;

        private String contentType;
        private List<Slice> chunks;

        @Setup(Level.Trial)
        public void open() throws IOException {
            Body body = Scenario.of(scenario).body();
            contentType = body.contentType();
            chunks = body.cut(8 * 1024);
            if (relay() < decode()) {
                throw new IllegalStateException("the relay lost content");
            }
        }

        /** Counts the bytes of content. */
        @Benchmark
        public long decode() throws IOException {
            long bytes = 0;
            try (MultipartDecoder decoder = MultipartDecoder.create(contentType, MultipartOptions.defaults())) {
                for (Slice chunk : chunks) {
                    decoder.feed(Unpooled.wrappedBuffer(chunk.array(), chunk.offset(), chunk.length()));
                    for (MultipartDecoder.Event event;
                            (event = decoder.next()) != MultipartDecoder.Event.NEED_INPUT; ) {
                        if (event == MultipartDecoder.Event.DATA) {
                            bytes += decoder.data().readableBytes();
                        } else if (event == MultipartDecoder.Event.END) {
                            break;
                        }
                    }
                }
            }
            return bytes;
        }

        /** Counts the bytes that are sent. */
        @Benchmark
        public long relay() throws IOException {
            long bytes = 0;
            try (FormRelay relay = FormRelay.create(
                    contentType, MultipartOptions.defaults(), NameEscaping.REJECT, FormRelay.Part::of)) {
                for (Slice chunk : chunks) {
                    relay.feed(Unpooled.wrappedBuffer(chunk.array(), chunk.offset(), chunk.length()));
                    bytes += drain(relay);
                }
                relay.finish();
                return bytes + drain(relay);
            }
        }

        private static long drain(FormRelay relay) throws IOException {
            long bytes = 0;
            for (ByteBuf next; (next = relay.next()) != null; next.release()) {
                bytes += next.readableBytes();
            }
            return bytes;
        }
    }

    /** Writes the head of a field with a name of {@code size} characters to a pooled buffer. Sluice also checks the name. */
    @State(Scope.Thread)
    @BenchmarkMode(Mode.AverageTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    public static class HeadBenchmark {
        private static final String BEFORE = "\r\n--x\r\nContent-Disposition: form-data; name=\"";
        private static final String AFTER = "\"\r\n\r\n";

        @Param("heap")
        public String memory;

        /** "ascii" for US-ASCII letters only; "mixed" if every eighth letter is not US-ASCII. */
        @Param("ascii")
        public String content;

        @Param("64")
        public int size;

        private final HeadWriter heads = new HeadWriter(Boundary.of("x"));
        private ByteBufAllocator allocator;
        private String name;

        @Setup(Level.Trial)
        public void open() {
            allocator = memory.equals("heap") ? new PooledByteBufAllocator(false) : new PooledByteBufAllocator(true);
            StringBuilder text = new StringBuilder();
            while (text.length() < size) {
                boolean foreign = content.equals("mixed") && text.length() % 8 == 2;
                text.append(foreign ? '\u00e9' : (char) ('a' + text.length() % 26));
            }
            name = text.toString();
            headOfSluice().release(); // the first head has no line end before it
            byte[] expected = (BEFORE + name + AFTER).getBytes(StandardCharsets.UTF_8);
            for (ByteBuf head : List.of(headOfSluice(), headOfGetBytes(), headOfWriteUtf8())) {
                if (!Arrays.equals(ByteBufUtil.getBytes(head), expected)) {
                    throw new IllegalStateException("the benchmarks have different results");
                }
                head.release();
            }
        }

        private ByteBuf headOfSluice() {
            ByteBuf head = allocator.heapBuffer(256);
            heads.form(head, name, null, null, NameEscaping.REJECT);
            return head;
        }

        private ByteBuf headOfGetBytes() {
            byte[] bytes = (BEFORE + name + AFTER).getBytes(StandardCharsets.UTF_8);
            return allocator.buffer(bytes.length).writeBytes(bytes);
        }

        private ByteBuf headOfWriteUtf8() {
            ByteBuf buffer = allocator.buffer(ByteBufUtil.utf8MaxBytes(name) + BEFORE.length() + AFTER.length());
            ByteBufUtil.writeAscii(buffer, BEFORE);
            ByteBufUtil.writeUtf8(buffer, name);
            ByteBufUtil.writeAscii(buffer, AFTER);
            return buffer;
        }

        @Benchmark
        public int sluice() {
            return counted(headOfSluice());
        }

        @Benchmark
        public int getBytes() {
            return counted(headOfGetBytes());
        }

        @Benchmark
        public int writeUtf8() {
            return counted(headOfWriteUtf8());
        }

        /** Writes letters outside of ASCII as question marks. */
        @Benchmark
        public int writeAscii() {
            ByteBuf buffer = allocator.buffer(name.length() + BEFORE.length() + AFTER.length());
            ByteBufUtil.writeAscii(buffer, BEFORE);
            ByteBufUtil.writeAscii(buffer, name);
            ByteBufUtil.writeAscii(buffer, AFTER);
            return counted(buffer);
        }

        private static int counted(ByteBuf head) {
            int count = head.readableBytes();
            head.release();
            return count;
        }
    }
}
