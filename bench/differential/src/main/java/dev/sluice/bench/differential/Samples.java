package dev.sluice.bench.differential;

import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.Soup;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;

/** The bodies that are compared: the corpus first, then as many as are wanted. A seed always makes the same ones. */
final class Samples {
    private static final int LARGEST_MUTATED = 4096;
    private static final String DAMAGE = "\r\n-: \";\\=";

    private final long seed;
    private final List<Corpus.Case> corpus = Corpus.cases();
    private final List<Corpus.Case> small = corpus.stream()
            .filter(each -> each.body().length <= LARGEST_MUTATED)
            .toList();

    Samples(long seed) {
        this.seed = seed;
    }

    Sample get(long index) {
        if (index < corpus.size()) {
            Corpus.Case each = corpus.get((int) index);
            return new Sample(Sample.Origin.CORPUS, each.contentType(), each.body());
        }
        SplittableRandom random = new SplittableRandom(seed + index * 0x9E3779B97F4A7C15L);
        int choice = random.nextInt(100);
        if (choice < 60) {
            return new Crafted(random).sample();
        }
        if (choice < 80) {
            Soup.Body soup = Soup.body(random.nextLong());
            return new Sample(Sample.Origin.SOUP, formData(soup.contentType()), soup.bytes());
        }
        Corpus.Case base = small.get(random.nextInt(small.size()));
        return new Sample(Sample.Origin.MUTATED, formData(base.contentType()), damaged(base.body(), random));
    }

    /** The parsers here read forms, so other multipart types become one. */
    static String formData(String contentType) {
        return Sluice.STANDARD
                .boundary(contentType)
                .filter(boundary -> !boundary.isFormData())
                .map(boundary -> "multipart/form-data; boundary=\"" + boundary.value() + '"')
                .orElse(contentType);
    }

    /** Few bytes changed, dropped, put in or doubled. */
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
}
