package dev.sluice.bench.peer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The bodies of the peer benchmarks. Every random byte comes from a fixed seed. */
public enum Scenario implements Named {
    RANDOM_16M("16 MiB of random bytes, one file", () -> oneFile(random(16 * Bytes.MIB, 1))),
    CSV_16M("16 MiB of CSV text with CRLF, one file", () -> oneFile(csv(16 * Bytes.MIB, 2))),
    FIELDS_100("100 fields of 16 bytes", () -> hundredFields().end()),
    FORM("5 fields and 2 files of 100 KiB", Scenario::form),
    PARTS_1000("1,000 files of 1 KiB", () -> files(1_000, 1024, 4)),
    PHOTOS_20("20 files of 64 KiB", () -> files(20, 64 * 1024, 5)),
    FIELDS_AND_FILE("100 fields, then one file of 16 MiB", Scenario::fieldsAndFile),

    ALL_CR("4 MiB of CR", () -> oneFile(filled('\r', 4 * Bytes.MIB))),
    ALL_LF("4 MiB of LF", () -> oneFile(filled('\n', 4 * Bytes.MIB))),
    ALL_CRLF("4 MiB of CRLF", () -> oneFile(repeated("\r\n", 4 * Bytes.MIB))),
    ALL_DASHES("4 MiB of dashes", () -> oneFile(filled('-', 4 * Bytes.MIB))),
    NEAR_BOUNDARIES(
            "4 MiB of delimiters with a wrong last byte",
            () -> oneFile(repeated("\r\n--" + allButLast(Bytes.BROWSER) + "#", 4 * Bytes.MIB))),
    EQUAL_BOUNDARY(
            "boundary of 70 dashes, 4 MiB of dashes",
            () -> oneFile("-".repeat(70), ("x" + "-".repeat(4 * Bytes.MIB - 1)).getBytes(StandardCharsets.US_ASCII))),
    FREQUENT_CHARACTER(
            "boundary b and 69 times a, 4 MiB of a", () -> oneFile("b" + "a".repeat(69), filled('a', 4 * Bytes.MIB))),
    TWO_BYTE_PROBE(
            "CR and the delimiter's last byte at its distance, 4 MiB",
            () -> oneFile(repeated("\r".repeat(40) + "W".repeat(40), 4 * Bytes.MIB))),
    SKIP_TABLE(
            "the last 20 bytes of the delimiter repeated, 4 MiB",
            () -> oneFile(repeated(Bytes.BROWSER.substring(Bytes.BROWSER.length() - 20), 4 * Bytes.MIB))),

    JUNK("1 MiB preamble, a small file, 1 MiB epilogue", Scenario::junk),
    DEFNULL_SIMPLE(
            "2 fields of 24 and 16 bytes (defnull simple)", () -> defnull(60).end()),
    DEFNULL_LARGE(
            "100 fields of 0 to 99 bytes (defnull large)",
            () -> fields(100, "field%d", i -> printable(i, 62 + i)).end()),
    DEFNULL_UPLOAD("one file of 32 MiB of text (defnull upload)", () -> oneFile(printable(32 * Bytes.MIB, 6))),
    DEFNULL_MIXED("2 fields, files of 1 and 2 MiB (defnull mixed)", Scenario::defnullMixed),
    DEFNULL_CRLF("1 MiB of CRLF (defnull worstcase_crlf)", () -> oneFile(repeated("\r\n", Bytes.MIB))),
    DEFNULL_LF("1 MiB of LF (defnull worstcase_lf)", () -> oneFile(filled('\n', Bytes.MIB))),
    DEFNULL_BCHAR(
            "1 MiB of delimiters without their last byte (defnull worstcase_bchar)",
            () -> oneFile(repeated("\r\n--" + allButLast(Bytes.BROWSER), Bytes.MIB))),

    /** The content repeats after 17 * 64 bytes, so chunks of 1, 17 and 64 bytes stay in the cache, like the buffers of a server's pool. */
    RANDOM_64K("1,088 random bytes 60 times, one file", () -> oneFile(repeated(random(17 * 64, 7), 60 * 17 * 64))),
    RANDOM_1M("1 MiB of random bytes, one file", () -> generated(1)),
    /** Does not fit into the cache of a processor. */
    RANDOM_256M("256 MiB of random bytes, one file", () -> blocks(256, i -> random(Bytes.MIB, 900 + i))),
    RANDOM_64M("the same MiB of random bytes 64 times, one file", () -> generated(64)),
    RANDOM_1G("the same MiB of random bytes 1,024 times, one file", () -> generated(1024)),

    NETTY_BIG("netty's benchmark: one file of zeros over 64 chunks of 8 KiB, CRLF", () -> nettyBig("\r\n")),
    NETTY_HIGH("netty's benchmark: 64 files of 8 KiB of zeros, one per chunk, CRLF", () -> nettyHigh("\r\n")),
    NETTY_BIG_LF("netty's benchmark: one file of zeros over 64 chunks of 8 KiB, LF", () -> nettyBig("\n")),
    NETTY_HIGH_LF("netty's benchmark: 64 files of 8 KiB of zeros, one per chunk, LF", () -> nettyHigh("\n"));

    private static final class Bytes {
        static final int MIB = 1 << 20;
        static final String BROWSER = "----WebKitFormBoundary7MA4YWxkTrZu0gW";
    }

    public final String title;
    private final Supplier<Body> maker;

    Scenario(String title, Supplier<Body> maker) {
        this.title = title;
        this.maker = maker;
    }

    /** Creates the body, with the same bytes each time. */
    public Body body() {
        return maker.get();
    }

    public static Scenario of(String id) {
        return Named.of(Scenario.class, id);
    }

    private static Body oneFile(byte[] content) {
        return oneFile(Bytes.BROWSER, content);
    }

    private static Body oneFile(String boundary, byte[] content) {
        return new BodyBuilder(boundary)
                .file("file", "upload.bin", "application/octet-stream", content)
                .end();
    }

    private static BodyBuilder fields(int count, String name, IntFunction<byte[]> content) {
        BodyBuilder builder = new BodyBuilder(Bytes.BROWSER);
        for (int i = 0; i < count; i++) {
            builder.field(name.formatted(i), content.apply(i));
        }
        return builder;
    }

    private static BodyBuilder hundredFields() {
        return fields(100, "field-%03d", i -> ascii("value-%03d-abcdef".formatted(i)));
    }

    private static Body fieldsAndFile() {
        return hundredFields()
                .file("file", "upload.bin", "application/octet-stream", random(16 * Bytes.MIB, 8))
                .end();
    }

    private static Body form() {
        BodyBuilder builder = fields(5, "field-%d", i -> ascii("a value of some length, number " + i));
        for (int i = 0; i < 2; i++) {
            builder.file("file-" + i, "picture-" + i + ".jpg", "image/jpeg", random(100 * 1024, 30 + i));
        }
        return builder.end();
    }

    private static Body files(int count, int size, long seed) {
        BodyBuilder builder = new BodyBuilder(Bytes.BROWSER);
        for (int i = 0; i < count; i++) {
            builder.file("photos", "IMG_%04d.jpg".formatted(i), "image/jpeg", random(size, seed * 10_000 + i));
        }
        return builder.end();
    }

    private static Body junk() {
        return new BodyBuilder(Bytes.BROWSER)
                .preamble(filled('P', Bytes.MIB))
                .file("file", "small.txt", "text/plain", ascii("a small file"))
                .end(filled('E', Bytes.MIB));
    }

    private static BodyBuilder defnull(long seed) {
        return new BodyBuilder(Bytes.BROWSER)
                .field("first", printable(24, seed))
                .field("second", printable(16, seed + 1));
    }

    private static Body defnullMixed() {
        return defnull(70)
                .file("file1", "one.txt", "text/plain", printable(Bytes.MIB, 72))
                .file("file2", "two.txt", "text/plain", printable(2 * Bytes.MIB, 73))
                .end();
    }

    /** Creates a body of equal blocks of 1 MiB that share their memory. */
    private static Body generated(int mebibytes) {
        byte[] block = random(Bytes.MIB, 9);
        return blocks(mebibytes, i -> block);
    }

    private static Body blocks(int count, IntFunction<byte[]> block) {
        return new BodyBuilder(Bytes.BROWSER)
                .fileOfBlocks("file", "upload.bin", count, block)
                .end();
    }

    private static Body nettyBig(String lineEnd) {
        byte[] nuls = new byte[8 * 1024];
        BodyBuilder builder = nettyStart(lineEnd);
        for (int i = 0; i < 64; i++) {
            builder.content(nuls).endPiece();
        }
        return builder.account(new byte[64 * nuls.length]).end();
    }

    private static Body nettyHigh(String lineEnd) {
        byte[] nuls = new byte[8 * 1024];
        BodyBuilder builder = nettyStart(lineEnd).content(nuls).account(nuls).endPiece();
        for (int i = 1; i < 64; i++) {
            builder.head("msg2", "file2.txt", null).content(nuls).account(nuls).endPiece();
        }
        return builder.end();
    }

    private static BodyBuilder nettyStart(String lineEnd) {
        return new BodyBuilder("01f136d9282f", lineEnd)
                .field("msg_id", ascii("15200"))
                .head("msg1", "file1.txt", null);
    }

    private static byte[] random(int size, long seed) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static byte[] printable(int size, long seed) {
        byte[] bytes = new byte[size];
        Random random = new Random(seed);
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) (' ' + random.nextInt(95));
        }
        return bytes;
    }

    private static byte[] csv(int size, long seed) {
        Random random = new Random(seed);
        StringBuilder text = new StringBuilder(size + 80);
        for (int row = 0; text.length() < size; row++) {
            String date = "2026-" + (10 + random.nextInt(3)) + '-' + (10 + random.nextInt(19));
            String id = Long.toString(random.nextLong(1L << 40), 36);
            text.append(row + "," + date + ',' + id + ',' + random.nextInt(100_000) / 100.0 + "\r\n");
        }
        return Arrays.copyOf(ascii(text.toString()), size);
    }

    private static byte[] filled(char b, int size) {
        byte[] bytes = new byte[size];
        Arrays.fill(bytes, (byte) b);
        return bytes;
    }

    private static byte[] repeated(String text, int size) {
        return repeated(ascii(text), size);
    }

    private static byte[] repeated(byte[] unit, int size) {
        byte[] bytes = new byte[size];
        for (int at = 0; at < size; at += unit.length) {
            System.arraycopy(unit, 0, bytes, at, Math.min(unit.length, size - at));
        }
        return bytes;
    }

    private static String allButLast(String text) {
        return text.substring(0, text.length() - 1);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
