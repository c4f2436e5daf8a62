package dev.sluice.bench.differential;

import dev.sluice.testkit.TextTable;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;

/** A generator of forms with usual and unusual syntax, which STRICT accepts with few exceptions. */
final class Crafted {
    private static final String BCHARS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'()+_,-./:=? ";
    private static final String ALPHANUMERIC = BCHARS.substring(0, 62);
    private static final String[] FIXED_BOUNDARIES = {"boundary", "AaB03x", "x", "-", "--", "xx", "a'b", "0"};
    static final Map<String, List<String>> WORDS = TextTable.sections("/dev/sluice/bench/differential/words.txt");
    private static final List<String> VALUES = WORDS.get("VALUES");

    private final SplittableRandom random;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);
    private final String boundary;

    Crafted(SplittableRandom random) {
        this.random = random;
        this.boundary = makeBoundary();
    }

    Sample sample() {
        String type = contentType();
        add(percent(5) ? "\r\n" : "");
        int parts = percent(2) ? 0 : 1 + random.nextInt(4);
        for (int i = 0; i < parts; i++) {
            delimiter();
            add(!percent(2) ? "\r\n" : percent(70) ? " \r\n" : " \t \r\n");
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
        String type = percent(80) ? "multipart/form-data; boundary=#" : pick(WORDS.get("CONTENT_TYPES"));
        return type.replace("#", token && !percent(10) ? boundary : '"' + boundary + '"');
    }

    /** Adds a delimiter without the line end before it. */
    private void delimiter() {
        add("--" + boundary);
    }

    private void part() {
        List<String> fields = new ArrayList<>();
        fields.add(fieldName("Content-Disposition") + ":" + blanks() + disposition());
        if (percent(45)) {
            fields.add(fieldName("Content-Type") + ":" + blanks() + pick(WORDS.get("PART_TYPES")));
        }
        boolean encoded = false;
        for (int i = percent(20) ? 1 + random.nextInt(3) : 0; i > 0; i--) {
            String other = pick(WORDS.get("OTHER_FIELDS"));
            boolean encoding = other.regionMatches(true, 0, "Content-Transfer", 0, 16);
            if (!encoding || !encoded) {
                fields.add(other);
            }
            encoded |= encoding;
        }
        if (percent(15)) {
            Collections.shuffle(fields, new Random(random.nextLong()));
        }
        fields.forEach(field -> add(field + "\r\n"));
        if (percent(1)) {
            // The blank line is also the line end before the next delimiter.
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
        return percent(8) ? written + '=' + pick(WORDS.get("TOKENS")) : written + "=\"" + value() + '"';
    }

    private String value() {
        if (percent(82)) {
            return VALUES.get(random.nextInt(6));
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
            case 0 -> add("\r\n--" + boundary.substring(0, random.nextInt(boundary.length())) + "?");
            case 1 -> {
                add(pick("\n--", "\r--", "a--", "--"));
                add(percent(50) ? boundary : "");
            }
            case 2 -> add(boundary);
            case 3 -> {
                for (int i = random.nextInt(20); i >= 0; i--) {
                    out.write(random.nextInt(256));
                }
            }
            default -> add(pick(WORDS.get("TEXTS")));
        }
    }

    /** Adds content whose size is close to the size of another parser's buffer. */
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
        return pick(List.of(choices));
    }

    private String pick(List<String> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private void add(String text) {
        out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    }
}
