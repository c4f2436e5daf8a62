package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever the peer sends, and however it is cut: the work is bounded by the bytes, counted in steps and not in time. */
class LinearWorkTest {
    private static final int SIZE = 256 * 1024;

    /** Work that does not depend on the bytes: what opening, closing and one header section cost at most. */
    private static final int CONSTANT = 1024;

    private record Case(String name, Boundary boundary, byte[] body, Preset preset) {
        @Override
        public String toString() {
            return name + " " + preset;
        }
    }

    static Stream<Case> hostileBodies() {
        String dashes = "-".repeat(70);
        Map<String, String> tokens = new LinkedHashMap<>();
        tokens.put("all CR", "\r");
        tokens.put("all LF", "\n");
        tokens.put("CRLF runs", "\r\n");
        tokens.put("CRLF and dashes", "\r\n--");
        tokens.put("all dashes", "-");
        tokens.put("delimiter but for its last byte", "\r\n--" + dashes.substring(1) + "y");
        tokens.put("delimiter with one byte too many", "\r\n--" + dashes + "y");
        tokens.put("two CR before each near-delimiter", "\r\r\n--" + dashes.substring(35));
        tokens.put("end of the delimiter", "-".repeat(69) + "x");
        tokens.put("bytes apart as in the delimiter", "\r" + "x".repeat(72) + "-");
        Boundary boundary = Boundary.of(dashes);
        String malformed = "delimiter with one byte too many"; // data for COMPATIBLE only
        return tokens.entrySet().stream()
                .flatMap(token -> Stream.of(Preset.STANDARD, Preset.COMPATIBLE)
                        .filter(preset ->
                                preset == Preset.COMPATIBLE || !token.getKey().equals(malformed))
                        .map(preset -> new Case(token.getKey(), boundary, partOf(dashes, token.getValue()), preset)));
    }

    private static byte[] partOf(String boundary, String token) {
        String head = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\na";
        return Decoding.bytes(head + token.repeat(SIZE / token.length()) + "\r\n--" + boundary + "--\r\n");
    }

    @ParameterizedTest
    @MethodSource("hostileBodies")
    void stepsAreAtMostEightPerByteInChunksOfAnySize(Case hostile) {
        for (int chunkSize : new int[] {1, 2, 7, 64, 1460, 8192, hostile.body.length}) {
            long chunks = hostile.body.length / chunkSize + 1;
            long steps = steps(hostile, chunkSize);
            assertTrue(
                    steps <= 8L * hostile.body.length + CONSTANT,
                    hostile + " in " + chunks + " chunks of " + chunkSize + ": " + steps + " steps for "
                            + hostile.body.length);
        }
    }

    @ParameterizedTest
    @MethodSource("hostileHeaders")
    void headerSectionsAreLookedAtOnce(Case hostile) {
        for (int chunkSize : new int[] {1, 2, 7, 64, 1460, 8192, hostile.body.length}) {
            long steps = steps(hostile, chunkSize);
            assertTrue(
                    steps <= 8L * hostile.body.length + CONSTANT,
                    hostile + " in chunks of " + chunkSize + ": " + steps + " steps for " + hostile.body.length);
        }
    }

    static Stream<Case> hostileHeaders() {
        String disposition = "Content-Disposition: form-data; name=\"a\"";
        return Stream.of(
                        "many small parts\0" + ("\r\n--x\r\n" + disposition + "\r\n\r\n").repeat(900),
                        "a long value\0\r\n--x\r\nX: " + "y".repeat(8000) + "\r\n" + disposition + "\r\n\r\n",
                        "quotes and backslashes\0\r\n--x\r\n" + disposition + "; filename=\"" + "\\\"".repeat(4000)
                                + "\"\r\n\r\n",
                        "many parameters\0\r\n--x\r\n" + disposition + "; a=b".repeat(1500) + "\r\n\r\n",
                        "folds\0\r\n--x\r\n" + disposition + ";\r\n x=y".repeat(1000) + "\r\n\r\n")
                .map(text -> text.split("\0"))
                .map(text ->
                        new Case(text[0], Boundary.of("x"), Decoding.bytes(text[1] + "\r\n--x--"), Preset.STANDARD));
    }

    private static long steps(Case hostile, int chunkSize) {
        MultipartOptions options = MultipartOptions.builder()
                .preset(hostile.preset)
                .limits(Limits.builder().unlimitedHeaderBytes().build())
                .build();
        ByteBuf body = Unpooled.wrappedBuffer(hostile.body);
        try (MultipartDecoder decoder = MultipartDecoder.create(hostile.boundary, options)) {
            while (body.isReadable()) {
                decoder.feed(body.readRetainedSlice(Math.min(chunkSize, body.readableBytes())));
                while (decoder.next() != MultipartDecoder.Event.NEED_INPUT) {}
            }
            decoder.finish();
            while (decoder.next() != MultipartDecoder.Event.END) {}
            return decoder.steps();
        } catch (MultipartException e) {
            throw new AssertionError(hostile.toString(), e);
        } finally {
            body.release();
        }
    }

    /** A body in which nothing looks like a delimiter must not cost more than one that is made to look like it. */
    @org.junit.jupiter.api.Test
    void randomBytesCostLessThanOneStepEach() {
        byte[] random = new byte[SIZE];
        new Random(1).nextBytes(random);
        byte[] head = Decoding.bytes("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n");
        byte[] tail = Decoding.bytes("\r\n--x--");
        byte[] body = Arrays.copyOf(head, head.length + random.length + tail.length);
        System.arraycopy(random, 0, body, head.length, random.length);
        System.arraycopy(tail, 0, body, head.length + random.length, tail.length);
        long steps = steps(new Case("random", Boundary.of("x"), body, Preset.STANDARD), 8192);
        assertTrue(steps < body.length, "steps " + steps);
    }
}
