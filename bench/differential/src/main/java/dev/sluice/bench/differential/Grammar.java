package dev.sluice.bench.differential;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * A generator of forms from the grammars of RFC 2046, RFC 7578 and RFC 9110, with mutations. It follows the standards and not Sluice's
 * policies, so it also finds what the policies do not consider. Each character is one byte.
 */
final class Grammar {
    private static final String ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    private static final String TOKEN = "!#$%&'*+-.^_`|~" + ALPHANUMERIC;
    private static final String BOUNDARY = "'()+_,-./:=? " + ALPHANUMERIC;
    /** Characters other than letters and digits that are ordinary in a quoted-string. */
    private static final String SPECIAL = " \t;:,=/()<>@?[]{}'%&*+-.~_^`|!#$";

    private static final String[] NAMES = {"name", "filename", "boundary", "charset", "form-data", "size", "x"};
    private static final String[] FIELDS = {
        "Content-Type",
        "Content-Transfer-Encoding",
        "Content-ID",
        "Content-Location",
        "Content-Description",
        "Content-Disposition",
        "Content-Language",
        "Content-Length",
        "X",
        "Name",
        "Filename",
        "Set-Cookie"
    };
    private static final String[] UNICODE = {
        "\u00E9",
        "\uFEFF",
        "\u00A0",
        "\u2028",
        "\u0085",
        "\u202E",
        "\uFF0F",
        "e\u0301",
        "\uD83D\uDE00",
        "\u65E5",
        "\uFFFD",
        "\u00AD",
        "\u017F",
        "\u212A"
    };
    private static final String[] LINES = {"\r\n", "\n", "\r", "--", "-", ":", "\0", "\r\n\r\n", "\377", "a", "=", "\t "
    };

    private final SplittableRandom random;
    private final String boundary;

    Grammar(SplittableRandom random) {
        this.random = random;
        this.boundary = percent(70) ? "x" : letters(BOUNDARY, random.nextInt(30)) + letters(ALPHANUMERIC, 1);
    }

    Sample sample() {
        StringBuilder body = new StringBuilder(percent(2) ? text() + "\r\n" : "");
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            body.append("--")
                    .append(boundary)
                    .append(padding())
                    .append("\r\n")
                    .append(part())
                    .append("\r\n");
        }
        body.append("--").append(boundary).append("--").append(padding()).append(percent(90) ? "\r\n" : "");
        String type = contentType();
        byte[] bytes = body.toString().getBytes(StandardCharsets.ISO_8859_1);
        if (percent(30)) {
            bytes = Samples.damaged(bytes, random);
        }
        return new Sample(Sample.Origin.GRAMMAR, type, bytes);
    }

    private String contentType() {
        List<String> parameters = parameters(percent(80) ? 0 : 1 + random.nextInt(2));
        boolean token = boundary.chars().allMatch(c -> TOKEN.indexOf(c) >= 0);
        parameters.add(cased("boundary") + '=' + (token && percent(60) ? boundary : '"' + boundary + '"'));
        return cased("multipart/form-data") + joined(parameters);
    }

    private String part() {
        List<String> fields = new ArrayList<>();
        for (int i = percent(40) ? 1 + random.nextInt(3) : 0; i > 0; i--) {
            fields.add(field(percent(80) ? pick(FIELDS) : letters(TOKEN, 1 + random.nextInt(12)), other()));
        }
        List<String> parameters = parameters(percent(75) ? 0 : 1 + random.nextInt(2));
        parameters.add(cased("name") + '=' + value());
        if (percent(50)) {
            parameters.add(cased("filename") + '=' + value());
        }
        fields.add(field("Content-Disposition", cased("form-data") + joined(parameters)));
        Collections.shuffle(fields, new Random(random.nextLong()));
        return String.join("\r\n", fields) + "\r\n\r\n" + text();
    }

    private String field(String name, String value) {
        String before = percent(85) ? " " : pick("", "\t", "  ");
        return cased(name) + ':' + before + value + (percent(95) ? "" : pick(" ", "\t"));
    }

    /** Returns the value of another field. Some values look like a Content-Disposition. */
    private String other() {
        return switch (random.nextInt(6)) {
            case 0 ->
                pick("text", "image", "application", "multipart", "message")
                        + '/'
                        + letters(TOKEN, 3)
                        + joined(parameters(1));
            case 1 -> pick("7bit", "8bit", "binary", "base64", "quoted-printable", "1", "0");
            case 2 -> "form-data" + joined(parameters(1 + random.nextInt(2)));
            case 3 ->
                "text/plain; charset="
                        + pick("utf-8", "UTF-8", "us-ascii", "iso-8859-1", "windows-1252", "utf-16", "utf-7", "gbk");
            case 4 -> value();
            default -> letters(SPECIAL + ALPHANUMERIC, random.nextInt(20)).strip();
        };
    }

    private List<String> parameters(int count) {
        List<String> parameters = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = percent(60)
                    ? pick(NAMES) + (percent(50) ? letters(TOKEN, 1 + random.nextInt(2)) : "")
                    : letters(TOKEN, 1 + random.nextInt(5));
            parameters.add((percent(20) ? letters(TOKEN, 1) : "") + cased(name) + '=' + value());
        }
        return parameters;
    }

    private String joined(List<String> parameters) {
        Collections.shuffle(parameters, new Random(random.nextLong()));
        StringBuilder text = new StringBuilder();
        for (String parameter : parameters) {
            text.append(percent(90) ? "; " : pick(";", " ;", ";\t", "; ;", " ; "))
                    .append(parameter);
        }
        return text.append(percent(97) ? "" : pick(";", "; ")).toString();
    }

    private String value() {
        if (percent(20)) {
            return letters(percent(50) ? TOKEN : ALPHANUMERIC, 1 + random.nextInt(5));
        }
        StringBuilder text = new StringBuilder("\"");
        for (int i = random.nextInt(5); i > 0; i--) {
            switch (random.nextInt(10)) {
                case 0, 1, 2 -> text.append(letters(SPECIAL, 1));
                case 3 -> text.append(latin(pick(UNICODE)));
                case 4 -> text.append(pick(NAMES)).append(percent(50) ? "=" : "");
                case 5 -> text.append('\\').append(letters("\"\\a/", 1));
                case 6 ->
                    text.append(pick(
                            "..",
                            "%22",
                            "%00",
                            "%2F",
                            "%u0041",
                            "&#34;",
                            "&quot;",
                            "=?utf-8?q?a?=",
                            "''",
                            "C:\\",
                            "--"));
                default -> text.append(letters(ALPHANUMERIC, 1 + random.nextInt(3)));
            }
        }
        return text.append('"').toString();
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(6); i > 0; i--) {
            switch (random.nextInt(8)) {
                case 0 -> text.append(pick("\n", "\r", "\r\n", "")).append("--").append(boundary);
                case 1 -> text.append("\r\n--").append(boundary, 0, random.nextInt(boundary.length()));
                case 2 -> text.append(latin(pick(UNICODE)));
                default -> text.append(pick(LINES));
            }
        }
        return text.toString();
    }

    private String padding() {
        return percent(97) ? "" : letters(" \t", 1 + random.nextInt(2));
    }

    private static String latin(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private String cased(String text) {
        if (percent(93)) {
            return text;
        }
        StringBuilder mixed = new StringBuilder();
        text.chars().forEach(c -> mixed.append((char) (percent(50) ? Character.toUpperCase(c) : c)));
        return mixed.toString();
    }

    private String letters(String from, int count) {
        StringBuilder text = new StringBuilder(count);
        for (int i = 0; i < count; i++) {
            text.append(from.charAt(random.nextInt(from.length())));
        }
        return text.toString();
    }

    private String pick(String... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private boolean percent(int share) {
        return random.nextInt(100) < share;
    }
}
