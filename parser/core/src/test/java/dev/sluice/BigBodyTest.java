package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes beyond int, in a heap that could not hold them. */
class BigBodyTest {
    private static final long SIZE = 5L << 30;
    private static final int BLOCK = 64 * 1024;
    private static final String HEAD = "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"big\"\r\n\r\n";
    private static final String TAIL = "\r\n--x--\r\n";

    @ParameterizedTest
    @ValueSource(strings = {"push", "pull"})
    void fiveGibibytesPassThroughAHeapOf64Mebibytes(String face) throws Exception {
        Path output = Files.createTempFile("big-body", ".txt");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:MaxDirectMemorySize=64m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        face)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(process.waitFor(5, TimeUnit.MINUTES), "the child does not end");
            String said = Files.readString(output);
            assertEquals("size " + SIZE + " crc " + expectedCrc(), lastLine(said), said);
        } finally {
            process.destroyForcibly();
            Files.delete(output);
        }
    }

    private static String lastLine(String output) {
        List<String> lines = output.lines().toList();
        return lines.get(lines.size() - 1);
    }

    private static byte[] block() {
        byte[] block = new byte[BLOCK];
        new Random(5).nextBytes(block);
        return block;
    }

    private static long expectedCrc() {
        CRC32C crc = new CRC32C();
        byte[] block = block();
        for (long size = 0; size < SIZE; size += BLOCK) {
            crc.update(block);
        }
        return crc.getValue();
    }

    /** Runs in a JVM of its own. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws Exception {
            CRC32C crc = new CRC32C();
            long size = args[0].equals("push") ? push(crc) : pull(crc);
            System.out.println("size " + size + " crc " + crc.getValue());
        }

        private static long push(CRC32C crc) throws MultipartException {
            byte[] block = block();
            try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
                drain(decoder, Unpooled.wrappedBuffer(Decoding.bytes(HEAD)), crc);
                for (long size = 0; size < SIZE; size += BLOCK) {
                    drain(
                            decoder,
                            PooledByteBufAllocator.DEFAULT.directBuffer(BLOCK).writeBytes(block),
                            crc);
                }
                drain(decoder, Unpooled.wrappedBuffer(Decoding.bytes(TAIL)), crc);
                decoder.finish();
                assertEquals(MultipartDecoder.Event.END, decoder.next());
                assertEquals(HEAD.length() + SIZE + TAIL.length(), decoder.offset());
                return decoder.partSize();
            }
        }

        private static void drain(MultipartDecoder decoder, ByteBuf chunk, CRC32C crc) throws MultipartException {
            decoder.feed(chunk);
            for (MultipartDecoder.Event event; (event = decoder.next()) != MultipartDecoder.Event.NEED_INPUT; ) {
                if (event == MultipartDecoder.Event.DATA) {
                    crc.update(decoder.data().nioBuffer());
                }
            }
        }

        private static long pull(CRC32C crc) throws Exception {
            InputStream body = new SequenceInputStream(Collections.enumeration(List.of(
                    new ByteArrayInputStream(Decoding.bytes(HEAD)),
                    new Blocks(),
                    new ByteArrayInputStream(Decoding.bytes(TAIL)))));
            try (MultipartReader reader = MultipartReader.create(body, Boundary.of("x"))) {
                long size = reader.nextPart().transferTo(new OutputStream() {
                    @Override
                    public void write(int b) {
                        crc.update(b);
                    }

                    @Override
                    public void write(byte[] bytes, int index, int length) {
                        crc.update(bytes, index, length);
                    }
                });
                assertEquals(null, reader.nextPart());
                return size;
            }
        }
    }

    /** The block, over and over. */
    private static final class Blocks extends InputStream {
        private final byte[] block = block();
        private long position;

        @Override
        public int read() {
            return position == SIZE ? -1 : block[(int) (position++ % BLOCK)] & 0xFF;
        }

        @Override
        public int read(byte[] target, int index, int length) {
            if (position == SIZE) {
                return -1;
            }
            int from = (int) (position % BLOCK);
            int count = Math.min(length, BLOCK - from);
            System.arraycopy(block, from, target, index, count);
            position += count;
            return count;
        }
    }
}
