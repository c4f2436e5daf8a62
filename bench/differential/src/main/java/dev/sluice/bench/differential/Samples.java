package dev.sluice.bench.differential;

import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.Soup;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The bodies that are compared. The same seed always gives the same bodies. */
final class Samples {
    private static final int LARGEST_MUTATED = 4096;
    private static final int LARGEST_CAPTURED = 16 * 1024;
    private static final String DAMAGE = "\r\n-: \";\\=";
    private static final Pattern VALUE = Pattern.compile("name=\"([^\"\r\n]*)\"");
    private static final Pattern FIELD = Pattern.compile("(?<=\r\n)Content-[^:\r\n]+:[^\r\n]*\r\n");
    private static final Pattern CONTENT = Pattern.compile("(?<=\r\n\r\n)[^-]*(?=\r\n--)");

    private final long seed;
    private final List<Corpus.Case> corpus = Corpus.cases();
    private final List<Corpus.Case> small = corpus.stream()
            .filter(each -> each.body().length <= LARGEST_MUTATED)
            .toList();
    private final List<Corpus.Case> captured = corpus.stream()
            .filter(each -> each.id().startsWith("sluice/") || each.id().startsWith("written/"))
            .filter(each -> each.body().length <= LARGEST_CAPTURED)
            .toList();

    Samples(long seed) {
        this.seed = seed;
    }

    private SplittableRandom random(long index) {
        return new SplittableRandom(seed + index * 0x9E3779B97F4A7C15L);
    }

    /** Returns the body at {@code index}. The bodies of the corpus come first, then any number of generated ones. */
    Sample get(long index) {
        if (index < corpus.size()) {
            Corpus.Case each = corpus.get((int) index);
            return new Sample(Sample.Origin.CORPUS, each.contentType(), each.body());
        }
        SplittableRandom random = random(index);
        int choice = random.nextInt(100);
        if (choice < 55) {
            return new Crafted(random).sample();
        }
        if (choice < 70) {
            return soup(random);
        }
        if (choice < 80) {
            return new Grammar(random).sample();
        }
        Corpus.Case base = small.get(random.nextInt(small.size()));
        return new Sample(Sample.Origin.MUTATED, formData(base.contentType()), damaged(base.body(), random));
    }

    private static Sample soup(SplittableRandom random) {
        Soup.Body soup = Soup.body(random.nextLong());
        return new Sample(Sample.Origin.SOUP, formData(soup.contentType()), soup.bytes());
    }

    /** Replaces other multipart types by {@code multipart/form-data}, because the parsers read forms only. */
    static String formData(String contentType) {
        return Sluice.STANDARD
                .boundary(contentType)
                .filter(boundary -> !boundary.isFormData())
                .map(boundary -> "multipart/form-data; boundary=\"" + boundary.value() + '"')
                .orElse(contentType);
    }

    /** Changes, removes, inserts or duplicates a few bytes. */
    static byte[] damaged(byte[] body, SplittableRandom random) {
        StringBuilder text = new StringBuilder(new String(body, StandardCharsets.ISO_8859_1));
        for (int i = random.nextInt(3); i >= 0 && !text.isEmpty(); i--) {
            int at = random.nextInt(text.length());
            char b = random.nextInt(4) == 0
                    ? (char) random.nextInt(256)
                    : random.nextInt(3) == 0
                            ? (char) ('a' + random.nextInt(26))
                            : DAMAGE.charAt(random.nextInt(DAMAGE.length()));
            switch (random.nextInt(4)) {
                case 0 -> text.setCharAt(at, b);
                case 1 -> text.deleteCharAt(at);
                case 2 -> text.insert(at, b);
                default -> {
                    int end = Math.min(text.length(), at + random.nextInt(40));
                    text.insert(end, text.substring(at, end));
                }
            }
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns a form that STRICT accepts. Of eight forms, six follow the grammars of the standards, one is a changed
     * body of a real client, and one comes from {@link Crafted} or {@link Soup}.
     */
    Sample accepted(long index) {
        SplittableRandom random = random(index);
        while (true) {
            Sample sample = switch ((int) (index % 8)) {
                case 0 -> changed(random);
                case 4 -> random.nextInt(4) > 0 ? new Crafted(random).sample() : soup(random);
                default -> new Grammar(random).sample();
            };
            if (sample.contentType().regionMatches(true, 0, "multipart/form-data", 0, 19)
                    && Sluice.STRICT.read(sample).accepts()) {
                return sample;
            }
        }
    }

    private Sample changed(SplittableRandom random) {
        Corpus.Case base = captured.get(random.nextInt(captured.size()));
        byte[] body = base.body();
        for (int i = random.nextInt(3); i >= 0; i--) {
            body = random.nextInt(4) == 0 ? damaged(body, random) : reworded(body, random);
        }
        return new Sample(Sample.Origin.CLIENT, base.contentType(), body);
    }

    /** Changes a name, a Content-Type or content, or adds a header field. */
    private static byte[] reworded(byte[] body, SplittableRandom random) {
        String text = new String(body, StandardCharsets.ISO_8859_1);
        int choice = random.nextInt(8);
        Pattern place = choice < 4 ? VALUE : choice < 6 ? FIELD : CONTENT;
        List<MatchResult> places = place.matcher(text).results().toList();
        if (places.isEmpty()) {
            return body;
        }
        MatchResult at = places.get(random.nextInt(places.size()));
        String type = "Content-Type: " + pick("PART_TYPES", random) + "\r\n";
        String instead = switch (choice) {
            case 0, 1, 2, 3 -> "name=\"" + pick("VALUES", random) + '"';
            case 4 -> at.group().startsWith("Content-Type") ? type : at.group() + type;
            case 5 -> at.group() + pick("OTHER_FIELDS", random) + "\r\n";
            default -> pick("TEXTS", random) + pick("TEXTS", random);
        };
        return (text.substring(0, at.start()) + instead + text.substring(at.end()))
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns a random word of a section. Each character of the result is one byte of the UTF-8 encoding of the word. */
    private static String pick(String section, SplittableRandom random) {
        List<String> words = Crafted.WORDS.get(section);
        return new String(
                words.get(random.nextInt(words.size())).getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
