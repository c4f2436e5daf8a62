package dev.sluice.bench.differential;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.SplittableRandom;

/** Makes a form of what a sender may write, usual and unusual; nearly all of it is for STRICT to accept. */
final class Crafted {

    private static final String BCHARS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=? ";
    private static final String ALPHANUMERIC = BCHARS.substring(0, 62);
    private static final String[] FIXED_BOUNDARIES = {"boundary", "AaB03x", "x", "-", "--", "xx", "a'b", "0"};
    private static final String[] CONTENT_TYPES = {
        "multipart/form-data;boundary=#",
        "Multipart/Form-Data; Boundary=#",
        "multipart/form-data; charset=utf-8; boundary=#",
        "multipart/form-data; boundary=#; charset=UTF-8",
        "multipart/form-data; boundary=#;",
        "multipart/form-data ; boundary=#",
    };
    private static final String[] VALUES = {
        "a",
        "b",
        "field",
        "user[0].name",
        "file1",
        "f.txt",
        "photo (1).jpeg",
        "two words",
        "caf\u00e9",
        "\u65e5\u672c",
        "\ud83d\ude00.png",
        "a;b",
        "a; b=c",
        "a=b",
        "a,b",
        "a:b",
        "a'b",
        "'",
        "it's",
        "a\\\"b",
        "\\\"",
        "\\\"q\\\"",
        "a\\\\b",
        "\\\\",
        "C:\\dir\\f.txt",
        "\\x",
        "%22",
        "a%0D%0Ab",
        "100%",
        "%41",
        "=?utf-8?q?x?=",
        "=?utf-8?B?Zg==?=",
        "a/b",
        "../f",
        "/",
        "&#233;",
        "+",
        "",
        "",
        " a",
        "a ",
        "a\tb",
        "name=",
        "filename=x",
        "a;name=b",
        "a; filename=b",
        "filename=\\\"x\\\"",
        "\u00fc;\u00e9",
        ".",
        "..",
        "*",
        "@",
        "<b>",
        "{}",
        "a\"".replace("\"", "'"),
    };
    private static final String[] TOKENS = {"a", "b", "field", "f.txt", "x-1", "it's", "100%", "a+b", "name", "filename"
    };
    private static final String[] PART_TYPES = {
        "text/plain", "text/plain", "text/plain; charset=utf-8", "text/plain;charset=UTF-8",
        "text/plain; charset=iso-8859-1", "application/octet-stream", "application/octet-stream", "image/jpeg",
        "application/json", "text/html; charset=\"us-ascii\"", "text/plain; charset=utf-16",
                "text/plain; charset=nonsense",
        "application/x-y; a=\"b;c\"", "message/rfc822", "text", "",
    };
    private static final String[] OTHER_FIELDS = {
        "Content-Length: 5",
        "Content-Length: 0",
        "Content-Length: 99999",
        "Content-Length: x",
        "Content-Transfer-Encoding: binary",
        "Content-Transfer-Encoding: 8bit",
        "Content-transfer-encoding: 7BIT",
        "X-Custom: 1",
        "X-Custom:",
        "X-Utf8: \u20ac",
        "Content-ID: <1@a>",
        "Content-Description: a b",
        "X: a:b",
        "Content-Disposition-X: y",
        "MIME-Version: 1.0",
        "!#$%&'*+-.^_`|~0: odd",
        "X-Quote: \"a",
        "X-Tab: a\tb",
    };
    private static final String[] TEXTS = {
        "a",
        "value",
        "two words",
        "caf\u00e9",
        "\u20ac",
        "\r\n",
        "\r\n",
        "\n",
        "\r",
        "\r\n\r\n",
        "-",
        "--",
        "---",
        "\r\n-",
        "\r\n--",
        "\n--",
        "\r--",
        "--\r\n",
        " ",
        "\0",
        "name=\"a\"",
        "Content-Disposition: form-data; name=\"x\"\r\n\r\n",
        "\r\r\n",
        "\r\n\r",
        "\t",
        "&",
        "%41",
        "=\r\n",
        "\u00a0",
        "--x",
        "\r\n--x\r\n",
    };

    private final SplittableRandom random;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    private final String boundary;

    Crafted(SplittableRandom random) {
        this.random = random;
        this.boundary = makeBoundary();
    }

    Sample sample() {
        String type = contentType();
        if (percent(5)) {
            add("\r\n");
        }
        int parts = percent(2) ? 0 : 1 + random.nextInt(4);
        for (int i = 0; i < parts; i++) {
            delimiter();
            if (percent(2)) {
                add(percent(70) ? " " : " \t ");
            }
            add("\r\n");
            part();
        }
        delimiter();
        add("--");
        add(percent(85) ? "\r\n" : pick("", " ", "\t\r\n", "  \r\n"));
        return new Sample(Sample.Origin.CRAFTED, type, out.toByteArray());
    }

    private String makeBoundary() {
        int kind = random.nextInt(10);
        if (kind < 4) {
            return "----WebKitFormBoundary" + letters(ALPHANUMERIC, 16);
        }
        if (kind < 6) {
            return "-".repeat(27) + letters("0123456789", 20 + random.nextInt(10));
        }
        if (kind < 9) {
            return letters(ALPHANUMERIC, 8 + random.nextInt(50));
        }
        return percent(50) ? pick(FIXED_BOUNDARIES) : letters(BCHARS, random.nextInt(70)) + letters(ALPHANUMERIC, 1);
    }

    private String letters(String from, int count) {
        StringBuilder text = new StringBuilder(count);
        for (int i = 0; i < count; i++) {
            text.append(from.charAt(random.nextInt(from.length())));
        }
        return text.toString();
    }

    private String contentType() {
        boolean token = boundary.chars().allMatch(Anatomy::isToken);
        String type = percent(80) ? "multipart/form-data; boundary=#" : pick(CONTENT_TYPES);
        return type.replace("#", token && !percent(10) ? boundary : '"' + boundary + '"');
    }

    /** The line end before it belongs to the part before, so the first one has none. */
    private void delimiter() {
        add("--");
        add(boundary);
    }

    private void part() {
        List<String> fields = new ArrayList<>();
        fields.add(fieldName("Content-Disposition") + ":" + blanks() + disposition());
        if (percent(45)) {
            fields.add(fieldName("Content-Type") + ":" + blanks() + pick(PART_TYPES));
        }
        boolean encoded = false;
        for (int i = percent(20) ? 1 + random.nextInt(3) : 0; i > 0; i--) {
            String other = pick(OTHER_FIELDS);
            boolean encoding = other.regionMatches(true, 0, "Content-Transfer", 0, 16);
            if (!encoding || !encoded) {
                fields.add(other);
            }
            encoded |= encoding;
        }
        if (percent(15)) {
            Collections.shuffle(fields, new Random(random.nextLong()));
        }
        for (String field : fields) {
            add(field);
            add("\r\n");
        }
        if (percent(1)) {
            // The blank line is the one of the next delimiter.
            add("\r\n");
            return;
        }
        add("\r\n");
        content();
        add("\r\n");
    }

    private String fieldName(String usual) {
        return percent(90) ? usual : percent(50) ? Anatomy.lower(usual) : usual.toUpperCase(Locale.ROOT);
    }

    private String blanks() {
        return percent(92) ? " " : pick("", "  ", "\t", " \t ");
    }

    private String disposition() {
        List<String> parameters = new ArrayList<>();
        parameters.add(parameter("name"));
        if (percent(45)) {
            String filename = parameter("filename");
            parameters.add(filename);
            if (percent(3) && filename.equals("filename=\"f.txt\"")) {
                parameters.add("filename*=UTF-8''f.txt");
            }
        }
        if (percent(4)) {
            parameters.add(pick("x=y", "size=12", "x=\"a;b\"", "x=\"name=z\"", "flag", "", "creation-date=\"a b\""));
        }
        if (percent(5)) {
            Collections.shuffle(parameters, new Random(random.nextLong()));
        }
        StringBuilder text = new StringBuilder(percent(97) ? "form-data" : pick("Form-Data", "FORM-DATA"));
        for (String parameter : parameters) {
            text.append(percent(93) ? "; " : pick(";", " ; ", ";\t", ";  ")).append(parameter);
        }
        return text.append(percent(97) ? "" : pick(";", "; ", " ", " ;")).toString();
    }

    private String parameter(String name) {
        String written = percent(97) ? name : percent(50) ? name.toUpperCase(Locale.ROOT) : 'N' + name.substring(1);
        if (!name.startsWith("n") && written.startsWith("N")) {
            written = "Filename";
        }
        return percent(8) ? written + '=' + pick(TOKENS) : written + "=\"" + value() + '"';
    }

    private String value() {
        if (percent(82)) {
            return VALUES[random.nextInt(6)];
        }
        String value = pick(VALUES);
        return percent(15) ? value + pick(VALUES) : value;
    }

    private void content() {
        if (percent(4)) {
            block();
        }
        for (int i = random.nextInt(5); i > 0; i--) {
            piece();
        }
        if (percent(2)) {
            block();
        }
    }

    private void piece() {
        switch (random.nextInt(16)) {
            case 0 -> {
                add("\r\n--");
                add(boundary.substring(0, random.nextInt(boundary.length())));
                add("?");
            }
            case 1 -> {
                add(pick("\n--", "\r--", "a--", "--"));
                if (percent(50)) {
                    add(boundary);
                }
            }
            case 2 -> add(boundary);
            case 3 -> {
                for (int i = random.nextInt(20); i >= 0; i--) {
                    out.write(random.nextInt(256));
                }
            }
            default -> add(pick(TEXTS));
        }
    }

    /** Around the sizes of other parsers' buffers. */
    private void block() {
        int size = (1 << random.nextInt(9, 14)) + random.nextInt(-120, 20);
        String fill = pick("x", "0123456789", "\r\n", "\r", "-", "line\r\n", "\n");
        while (size > 0) {
            add(fill);
            size -= fill.length();
        }
    }

    private boolean percent(int share) {
        return random.nextInt(100) < share;
    }

    private String pick(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private void add(String text) {
        out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }
}
