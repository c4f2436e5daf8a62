package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * A generator of small bodies that are nearly multipart: valid ones, ones with every deviation of the policy, malformed
 * ones, and random sequences of significant tokens. The same seed always creates the same body.
 */
public final class Soup {
    private static final Map<String, List<String>> WORDS = TextTable.sections("soup.txt");
    private static final String[] CONTENT_TYPES = texts("content types");
    private static final String[] ODD_CONTENT_TYPES = texts("odd content types");
    private static final String[] BOUNDARIES = texts("boundaries");
    private static final String[] ODD_BOUNDARIES = texts("odd boundaries");
    private static final String LONG_BOUNDARY = "0123456789".repeat(8);

    private static final byte[][] DISPOSITIONS = bytes("dispositions");
    private static final byte[][] ODD_DISPOSITIONS = bytes("odd dispositions");
    private static final byte[][] BAD_DISPOSITIONS = bytes("bad dispositions");
    private static final byte[][] DISPOSITION_TOKENS = bytes("disposition tokens");
    private static final String[] CONTENT_TYPE_TOKENS = texts("content type tokens");
    private static final byte[] INVALID_UTF8 = {'f', '-', (byte) 0xC3, '(', (byte) 0xE2, (byte) 0x82};

    private static final byte[][] HEADERS = bytes("headers");
    private static final byte[][] ODD_HEADERS = bytes("odd headers");
    private static final byte[][] BAD_HEADERS = bytes("bad headers");

    private static final byte[][] AFTER_DELIMITER = bytes("after delimiter");
    private static final byte[][] ODD_AFTER_DELIMITER = bytes("odd after delimiter");
    private static final byte[][] AFTER_CLOSE = bytes("after close");
    private static final byte[][] ODD_AFTER_CLOSE = bytes("odd after close");
    private static final byte[][] PREAMBLES = bytes("preambles");
    private static final byte[][] TEXTS = bytes("texts");

    private final SplittableRandom random;
    private final byte[] boundary;
    /** The share of deviations and of errors, in percent. */
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
     * A generated body.
     *
     * @param seed the seed that recreates it
     * @param contentType the Content-Type of the request
     * @param bytes the multipart body
     * @param limits the limits for parsing it
     */
    public record Body(long seed, String contentType, byte[] bytes, ReferenceLimits limits) {
        /** {@return the seed and the body with its control bytes escaped, for analysing a failure} */
        @Override
        public String toString() {
            return "seed " + seed + ", " + contentType + ", " + limits + ", body \"" + escape(bytes) + "\"";
        }
    }

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
        String type = oddBoundary ? CONTENT_TYPES[random.nextInt(2)] : pick(random, CONTENT_TYPES);
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
            case 0 -> limits.with("maxBodyBytes", random.nextInt(size + 3));
            case 1 -> limits.with("maxPartBytes", random.nextInt(12));
            case 2 -> limits.with("maxParts", random.nextInt(4)).with("maxFiles", random.nextInt(3));
            case 3 -> limits.with("maxPreambleBytes", random.nextInt(8)).with("maxEpilogueBytes", random.nextInt(8));
            case 4 -> limits.with("maxHeadersPerPart", random.nextInt(4));
            default ->
                limits.with("maxHeaderBytesPerPart", random.nextInt(150)).with("maxHeaderBytes", random.nextInt(250));
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

    /** {@return a Content-Type of random tokens, usually after a correct media type} */
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

    /** Adds a boundary without its last byte, with an extra byte, or with a different last byte. */
    private void nearBoundary() {
        add(boundary);
        switch (random.nextInt(3)) {
            case 0 -> size--;
            case 1 -> add((byte) 'x');
            default -> out[size - 1] ^= 1;
        }
    }

    /** Adds padding, usually short but sometimes near the limit of 256 bytes. */
    private void padding() {
        int count = random.nextInt(8) == 0 ? 255 + random.nextInt(3) : random.nextInt(3);
        for (int i = 0; i < count; i++) {
            add((byte) (i % 5 == 4 ? '\t' : ' '));
        }
    }

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

    /** Changes, removes or inserts one to three bytes, or truncates the body. */
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

    /** Adds a line end, sometimes a bare LF if deviations are wanted. */
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

    private static String[] texts(String section) {
        return Objects.requireNonNull(WORDS.get(section), section).toArray(String[]::new);
    }

    private static byte[][] bytes(String section) {
        return Objects.requireNonNull(WORDS.get(section), section).stream()
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** {@return {@code bytes} with everything escaped except visible ASCII and spaces} */
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
