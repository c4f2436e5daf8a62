package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Makes small bodies that are almost multipart: sound ones, ones with every oddity of the policy, broken ones, and
 * soups of the tokens that matter. A seed always makes the same body.
 */
public final class Soup {
    private static final String[] CONTENT_TYPES = {
        "multipart/form-data; boundary=#",
        "multipart/form-data;boundary=\"#\"",
        "Multipart/Form-Data; charset=utf-8; BOUNDARY=# ;",
        "multipart/mixed; boundary=\"#\"; type=\"a\\\"b\"",
        "multipart/related;; x ; boundary=#",
    };
    private static final String[] ODD_CONTENT_TYPES = {
        "multipart/form-data",
        "multipart/form-data; boundary*0=#",
        "multipart/form-data; boundary=#; boundary=#",
        "multipart/form-data; boundary=\"#",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=# x",
        "multipart/form-data; boundary=\"# \"",
        "multipart/form-data; boundary = #",
        "multipart/form-data, boundary=#",
        "application/x-www-form-urlencoded",
        "text/plain; boundary=#",
        "multipart/; boundary=#",
    };
    private static final String[] BOUNDARIES = {"x", "xy", "--", "-x", "xx", "x-x", "a'b", "----WebKitFormBoundaryA1"};
    private static final String[] ODD_BOUNDARIES = {"*****", "a=b", "\\/\\/x", "a!b", "x:y"};
    private static final String LONG_BOUNDARY = "0123456789".repeat(8);

    private static final byte[][] DISPOSITIONS = bytes(
            "form-data; name=\"a\"",
            "form-data; name=a",
            "form-data; name=\"a\"; filename=\"f.txt\"",
            "form-data; filename=f.txt; name=b",
            "FORM-DATA;NAME=\"\";FILENAME=\"\";",
            "form-data ; name=\"a\\\"b\\\\c\\d\" ; filename=\"C:\\dir\\f.txt\" ;; x; y=\"z\"",
            "form-data; name='a;b'; filename=caf\u00e9",
            "form-data; name=\"\u20ac%22\"; filename=\"=?utf-8?q?x?=\"",
            "form-data; name=\"a\";\tfilename=\"&#233;\"");
    private static final byte[][] ODD_DISPOSITIONS = bytes(
            "form-data; name=a; filename*=UTF-8''%e2%82%ac.txt",
            "form-data; name=a; filename*=iso-8859-1'en'%A4",
            "form-data; name=a; filename=f; filename*=UTF-8''f",
            "form-data; name=a; filename*=utf-8''g; filename=f",
            "form-data; name=a; filename=\"=?utf-8?b?Zg==?=\"; filename*=utf-8''f",
            "form-data; name=a; filename*=UTF-8''%e2%82",
            "form-data; name=a; filename*=UTF-8''%zz; filename*0=b; filename*1=c",
            "form-data; name=a; filename*=KOI8-R''x; filename=f",
            "form-data; filename*0=\"b\"; filename*1*=%41; name=a",
            "form-data; filename*1=\"c\"; filename*0*=UTF-8''%42; name=a",
            "form-data; name=a; filename*0=a; filename*2=c",
            "form-data; name=a; name*=UTF-8''b",
            "form-data; name=a; name*0=x; filename*0=y",
            "form-data; name=\"\u00ff",
            "form-data; name = \"a\"; filename= f.txt",
            "form-data; name=a b c; filename=d e ; x=y",
            "form-data; name=\"a\"b\"; filename=\"c\" d\" ",
            "form-data; name=\"a\"b",
            "attachment; name=a; filename=f",
            "file; name=\"a\"");
    private static final byte[][] BAD_DISPOSITIONS = bytes(
            "form-data",
            "form-data; filename=\"f\"",
            "form-data; name",
            "form-data; name*=UTF-8''a",
            "form-data; name=a; name=b",
            "form-data; name=a; FileName=f; filename=g",
            "form-data; name=a; filename*=UTF-8''f; filename*=UTF-8''f",
            "form-data; name=\"a",
            "form-data; name=\"a\"; filename=\"C:\\dir\\\"",
            "form-data name=a",
            "form-data; name=",
            "form-data; name=; filename=f",
            "form-data; name=a,b",
            "form-data; name=a\"b\"",
            "form-data; =a",
            "form-data; na me=a",
            "form-data, name=a",
            "; name=a",
            "\"form-data\"; name=a",
            "");
    private static final byte[][] DISPOSITION_TOKENS = bytes(
            "; ",
            "; ",
            ";",
            ";",
            " ",
            "\t",
            "\r\n ",
            " \t\r\n\t ",
            "\r\n  ",
            "=",
            "=",
            " = ",
            "\"",
            "\"",
            "\\\"",
            "\\\\",
            "\\",
            ",",
            "'",
            "name=a",
            "name=\"b\"",
            "filename=\"f\"",
            "filename=f",
            "name",
            "filename",
            "filename*",
            "name*",
            "filename*0",
            "filename*1*",
            "filename*=UTF-8''f",
            "filename*0*=utf-8''%66",
            "UTF-8''",
            "%41",
            "%",
            "%e2%82%ac",
            "\u00e9",
            "a",
            "=?x?=",
            "FileName=g",
            "x=\"y;z\"",
            "form-data");
    private static final String[] CONTENT_TYPE_TOKENS = {
        "; ",
        ";",
        " ",
        "\t",
        "=",
        "\"",
        "\\",
        ",",
        "boundary=x",
        "boundary=\"x\"",
        "boundary",
        "Boundary=",
        "boundary*0=x",
        "charset=utf-8",
        "a",
        "x",
        "'",
        "/",
        "*",
        "\u00e9",
        "\u0001",
        "type=\"a\\\"b\"",
        "multipart/mixed",
        " boundary=x ",
        ";;"
    };
    private static final byte[] INVALID_UTF8 = {'f', '-', (byte) 0xC3, '(', (byte) 0xE2, (byte) 0x82};

    private static final byte[][] HEADERS = bytes(
            "Content-Type: text/plain\r\n",
            "content-type:text/plain;charset=utf-8 \t\r\n",
            "Content-Type: multipart/mixed; boundary=y\r\n",
            "Content-Transfer-Encoding: binary\r\n",
            "CONTENT-TRANSFER-ENCODING: 7BIT\r\n",
            "Content-Length: 7\r\n",
            "X-a: 1\r\n",
            "X:\r\n",
            "!#$%&'*+-.^_`|~0: \u20ac\r\n");
    private static final byte[][] ODD_HEADERS = bytes(
            "Content-Transfer-Encoding: base64\r\n",
            "Content-Transfer-Encoding:\r\n",
            "X: a\r\n b\r\n",
            "X:\r\n\tb \r\n  c\r\n",
            "Content-Type: text/plain;\r\n charset=x\r\n",
            "X: lf\n",
            "X: lf\n fold\r\n",
            "Content-Type: Multipart/Mixed\r\n",
            "Content-Transfer-Encoding: x-unknown\r\n");
    private static final byte[][] BAD_HEADERS = bytes(
            " X: a\r\n",
            "X : a\r\n",
            "X\r\n",
            ": a\r\n",
            "X: a\r\n \t\r\n",
            "X: \u0000\r\n",
            "X: \u007f\r\n",
            "X: a\rb\r\n",
            "X\u00e9: a\r\n",
            "X: a\r\r\n",
            "\r",
            "Content-Type: a/b\r\nContent-Type: a/b\r\n",
            "Content-Disposition: form-data; name=a\r\n",
            "Content-Transfer-Encoding: 8bit\r\ncontent-transfer-encoding: 8bit\r\n");

    private static final byte[][] AFTER_DELIMITER = bytes("\r\n", "\r\n", "\r\n", " \r\n", "\t \r\n");
    private static final byte[][] ODD_AFTER_DELIMITER =
            bytes("\n", "x\r\n", "-\r\n", "\r", "\rx", "\r\r\n", " --", " x\r\n", "--", "-x", "\u0000", "--\r\n");
    private static final byte[][] AFTER_CLOSE = bytes("--", "--\r\n", "--\r\n", "-- ", "-- \t\r\n");
    private static final byte[][] ODD_AFTER_CLOSE =
            bytes("--\r", "--\n", "--x", "-- x\r\n", "--\r\r\n", "---", "--\r\n\r\n", "--\r\nepilogue", "--\r\nx\r\n");
    private static final byte[][] PREAMBLES = bytes(
            "\n",
            "text\r\n",
            "text\n",
            "\r\n\r\n",
            "\rx\r\n",
            "x",
            "--\r\n",
            "\r",
            "\r\n-\r\n",
            "a\r\nb\r\n",
            "\r\nx\r\n");
    private static final byte[][] TEXTS = bytes(
            "",
            "",
            "a",
            "value",
            "\r\n",
            "\r\n\r\n",
            "\n",
            "\r",
            "--",
            "-",
            "\r\n-",
            "\r\n--",
            "a\r",
            "a\r\n",
            "\r\r\n",
            "\r\n \r\n",
            "\u20ac",
            "name=\"a\"",
            "\r\n\r",
            "\n--",
            "\r--",
            " ");

    private final SplittableRandom random;
    private final byte[] boundary;
    /** Of 100 choices, how many are odd and how many are bad. */
    private final int odd;

    private final int bad;
    private byte[] out = new byte[512];
    private int size;

    private Soup(SplittableRandom random, String boundary, int odd, int bad) {
        this.random = random;
        this.boundary = boundary.getBytes(StandardCharsets.ISO_8859_1);
        this.odd = odd;
        this.bad = bad;
    }

    /**
     * A body to be parsed.
     *
     * @param seed that makes it again
     * @param contentType of the request
     * @param bytes the multipart body
     * @param limits to parse it with
     */
    public record Body(long seed, String contentType, byte[] bytes, ReferenceLimits limits) {
        /**
         * {@return the seed and the body with its control bytes escaped: all that is needed to look into a
         * failure}
         */
        @Override
        public String toString() {
            return "seed " + seed + ", " + contentType + ", " + limits + ", body \"" + escape(bytes) + "\"";
        }
    }

    /** {@return the body of a seed} */
    public static Body body(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int mood = random.nextInt(100);
        int odd = mood < 25 ? 0 : mood < 65 ? 6 : mood < 90 ? 12 : 30;
        int bad = mood < 45 ? 0 : mood < 90 ? 3 : 10;
        String boundary = pick(random, BOUNDARIES);
        boolean oddBoundary = random.nextInt(100) < odd;
        if (oddBoundary) {
            boundary = random.nextInt(8) == 0 ? LONG_BOUNDARY : pick(random, ODD_BOUNDARIES);
        }
        String type = oddBoundary ? CONTENT_TYPES[0] : pick(random, CONTENT_TYPES);
        if (random.nextInt(200) < bad) {
            type = random.nextBoolean() ? pick(random, ODD_CONTENT_TYPES) : contentTypeTokens(random);
        }
        Soup soup = new Soup(random, boundary, odd, bad);
        if (random.nextInt(100) < 88) {
            soup.message();
        } else {
            soup.tokens();
        }
        if (random.nextInt(100) < bad * 4) {
            soup.damage();
        }
        byte[] bytes = Arrays.copyOf(soup.out, soup.size);
        return new Body(seed, type.replace("#", boundary), bytes, limits(random, bytes.length));
    }

    private static ReferenceLimits limits(SplittableRandom random, int size) {
        ReferenceLimits limits = ReferenceLimits.DEFAULTS;
        if (random.nextInt(100) < 80) {
            return limits;
        }
        return switch (random.nextInt(6)) {
            case 0 -> limits.withMaxBodyBytes(random.nextInt(size + 3));
            case 1 -> limits.withMaxPartBytes(random.nextInt(12));
            case 2 -> limits.withMaxParts(random.nextInt(4), random.nextInt(3));
            case 3 -> limits.withMaxOutside(random.nextInt(8), random.nextInt(8));
            case 4 -> limits.withMaxHeaders(random.nextInt(4), 8 << 10, 256 << 10);
            default -> limits.withMaxHeaders(32, random.nextInt(150), random.nextInt(250));
        };
    }

    private void message() {
        if (isOdd()) {
            add(pick(random, PREAMBLES));
        }
        if (random.nextInt(8) == 0) {
            crlf();
        }
        int parts = isOdd() ? 0 : 1 + random.nextInt(3);
        for (int i = 0; i < parts; i++) {
            if (i > 0) {
                crlf();
            }
            dashBoundary();
            if (isOdd()) {
                add(pick(random, ODD_AFTER_DELIMITER));
            } else {
                add(pick(random, AFTER_DELIMITER));
            }
            part();
        }
        if (parts > 0) {
            crlf();
        }
        dashBoundary();
        if (isOdd()) {
            add(pick(random, ODD_AFTER_CLOSE));
        } else {
            add(pick(random, AFTER_CLOSE));
        }
    }

    private void part() {
        int before = random.nextInt(3) == 0 ? random.nextInt(3) : 0;
        for (int i = 0; i < before; i++) {
            header();
        }
        if (!isBad()) {
            add("Content-Disposition: ");
            if (random.nextInt(400) < odd) {
                dispositionTokens();
            } else if (isBad()) {
                add(pick(random, BAD_DISPOSITIONS));
            } else {
                add(isOdd() ? pick(random, ODD_DISPOSITIONS) : plainDisposition());
            }
            if (random.nextInt(400) < odd) {
                add("; filename=");
                add(INVALID_UTF8);
            }
            crlf();
        }
        if (random.nextInt(3) == 0) {
            header();
        }
        if (isBad()) {
            padding();
        }
        crlf();
        int texts = random.nextInt(3);
        for (int i = 0; i < texts; i++) {
            data();
        }
    }

    /** No content type at all, or one that begins well, made of what content types are made of. */
    private static String contentTypeTokens(SplittableRandom random) {
        StringBuilder text = new StringBuilder(random.nextInt(8) == 0 ? "" : "multipart/form-data; ");
        for (int i = random.nextInt(6); i >= 0; i--) {
            text.append(pick(random, CONTENT_TYPE_TOKENS));
        }
        return text.toString();
    }

    private void dispositionTokens() {
        add(random.nextInt(8) == 0 ? "" : "form-data; ");
        for (int i = random.nextInt(7); i >= 0; i--) {
            add(pick(random, DISPOSITION_TOKENS));
        }
    }

    private byte[] plainDisposition() {
        return DISPOSITIONS[random.nextInt(4) == 0 ? random.nextInt(DISPOSITIONS.length) : random.nextInt(3)];
    }

    private void header() {
        add(isBad() ? pick(random, BAD_HEADERS) : isOdd() ? pick(random, ODD_HEADERS) : pick(random, HEADERS));
    }

    private void data() {
        if (!isOdd()) {
            add(pick(random, TEXTS));
            return;
        }
        switch (random.nextInt(9)) {
            case 0 -> nearBoundary();
            case 1 -> {
                add("\r\n--");
                nearBoundary();
            }
            case 2 -> {
                add("\n--");
                add(boundary);
            }
            case 3 -> {
                add(random.nextBoolean() ? "a--" : "\r--");
                add(boundary);
            }
            case 4 -> {
                crlf();
                dashBoundary();
                add(pick(random, ODD_AFTER_DELIMITER));
            }
            case 5 -> {
                for (int i = random.nextInt(9); i >= 0; i--) {
                    add((byte) random.nextInt(256));
                }
            }
            case 6 -> {
                crlf();
                dashBoundary();
                padding();
            }
            case 7 -> {
                add("\r\n--");
                add(Arrays.copyOf(boundary, random.nextInt(boundary.length + 1)));
            }
            default -> {
                for (int i = random.nextInt(6); i >= 0; i--) {
                    add(pick(random, TEXTS));
                }
            }
        }
    }

    /** A boundary without its last byte, with one more, or with another one for its last. */
    private void nearBoundary() {
        add(boundary);
        switch (random.nextInt(3)) {
            case 0 -> size--;
            case 1 -> add((byte) 'x');
            default -> out[size - 1] ^= 1;
        }
    }

    /** Mostly short, now and then around the bound of 256. */
    private void padding() {
        int count = random.nextInt(8) == 0 ? 255 + random.nextInt(3) : random.nextInt(3);
        for (int i = 0; i < count; i++) {
            add((byte) (i % 5 == 4 ? '\t' : ' '));
        }
    }

    /** No message at all, only what messages are made of. */
    private void tokens() {
        for (int i = random.nextInt(30); i > 0; i--) {
            switch (random.nextInt(16)) {
                case 0 -> add((byte) '\r');
                case 1 -> add((byte) '\n');
                case 2, 3 -> crlf();
                case 4 -> add("--");
                case 5 -> add(boundary);
                case 6 -> dashBoundary();
                case 7 -> {
                    crlf();
                    dashBoundary();
                }
                case 8 -> nearBoundary();
                case 9 -> add(pick(random, AFTER_DELIMITER));
                case 10 -> add(pick(random, ODD_AFTER_CLOSE));
                case 11 -> header();
                case 12 -> {
                    add("Content-Disposition: ");
                    add(plainDisposition());
                    crlf();
                }
                case 13 -> add((byte) random.nextInt(256));
                case 14 -> padding();
                default -> data();
            }
        }
    }

    /** One to three bytes changed, dropped or put in, or the end cut off. */
    private void damage() {
        for (int i = random.nextInt(3); i >= 0 && size > 0; i--) {
            int at = random.nextInt(size);
            switch (random.nextInt(4)) {
                case 0 -> out[at] = (byte) random.nextInt(256);
                case 1 -> {
                    System.arraycopy(out, at + 1, out, at, size - at - 1);
                    size--;
                }
                case 2 -> {
                    add((byte) 0);
                    System.arraycopy(out, at, out, at + 1, size - at - 1);
                    out[at] = "\r\n-: \";".getBytes(StandardCharsets.US_ASCII)[random.nextInt(7)];
                }
                default -> size = at;
            }
        }
    }

    private boolean isOdd() {
        return random.nextInt(100) < odd;
    }

    private boolean isBad() {
        return random.nextInt(100) < bad;
    }

    /** A line end, which is LF alone now and then where odd things happen. */
    private void crlf() {
        if (random.nextInt(300) >= odd) {
            add((byte) '\r');
        }
        add((byte) '\n');
    }

    private void dashBoundary() {
        add((byte) '-');
        add((byte) '-');
        add(boundary);
    }

    private void add(String text) {
        for (int i = 0; i < text.length(); i++) {
            add((byte) text.charAt(i));
        }
    }

    private void add(byte[] bytes) {
        for (byte b : bytes) {
            add(b);
        }
    }

    private void add(byte b) {
        if (size == out.length) {
            out = Arrays.copyOf(out, 2 * size);
        }
        out[size++] = b;
    }

    private static <T> T pick(SplittableRandom random, T[] choices) {
        return choices[random.nextInt(choices.length)];
    }

    private static byte[][] bytes(String... texts) {
        return Arrays.stream(texts)
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** {@return {@code bytes} with everything escaped that is not visible ASCII or a space} */
    public static String escape(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length + 16);
        for (byte b : bytes) {
            int c = b & 0xFF;
            switch (c) {
                case '\r' -> text.append("\\r");
                case '\n' -> text.append("\\n");
                case '\t' -> text.append("\\t");
                case '"' -> text.append("\\\"");
                case '\\' -> text.append("\\\\");
                default -> {
                    if (c >= ' ' && c < 0x7F) {
                        text.append((char) c);
                    } else {
                        text.append('\\').append(Character.forDigit(c >> 6, 8));
                        text.append(Character.forDigit(c >> 3 & 7, 8)).append(Character.forDigit(c & 7, 8));
                    }
                }
            }
        }
        return text.toString();
    }
}
