package dev.sluice.bench.differential;

import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.Soup;
import dev.sluice.testkit.TextTable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Forms that STRICT accepts: half of them small changes of what clients of today send, half of them made. A seed always makes the
 * same ones.
 */
final class Accepted {
    private static final int LARGEST = 16 * 1024;
    private static final Pattern VALUE = Pattern.compile("name=\"([^\"\r\n]*)\"");
    private static final Pattern FIELD = Pattern.compile("(?<=\r\n)Content-[^:\r\n]+:[^\r\n]*\r\n");
    private static final Pattern CONTENT = Pattern.compile("(?<=\r\n\r\n)[^-]*(?=\r\n--)");
    private static final Map<String, List<String>> WORDS =
            TextTable.sections("/dev/sluice/bench/differential/words.txt");

    private final long seed;
    private final List<Corpus.Case> captured = Corpus.cases().stream()
            .filter(each -> each.id().startsWith("sluice/") || each.id().startsWith("written/"))
            .filter(each -> each.body().length <= LARGEST)
            .toList();

    Accepted(long seed) {
        this.seed = seed;
    }

    /** {@return a form; even ones are those of clients} */
    Sample get(long index) {
        SplittableRandom random = new SplittableRandom(seed + index * 0x9E3779B97F4A7C15L);
        while (true) {
            Sample sample = index % 2 == 0 ? changed(random) : made(random);
            if (sample.contentType().regionMatches(true, 0, "multipart/form-data", 0, 19)
                    && Sluice.STRICT.read(sample).accepts()) {
                return sample;
            }
        }
    }

    private static Sample made(SplittableRandom random) {
        if (random.nextInt(4) > 0) {
            return new Crafted(random).sample();
        }
        Soup.Body soup = Soup.body(random.nextLong());
        return new Sample(Sample.Origin.SOUP, Samples.formData(soup.contentType()), soup.bytes());
    }

    private Sample changed(SplittableRandom random) {
        Corpus.Case base = captured.get(random.nextInt(captured.size()));
        byte[] body = base.body();
        for (int i = random.nextInt(3); i >= 0; i--) {
            body = random.nextInt(4) == 0 ? Samples.damaged(body, random) : reworded(body, random);
        }
        return new Sample(Sample.Origin.CLIENT, base.contentType(), body);
    }

    /** With another name, another field, one field less, or other content. */
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

    /** A word as bytes in UTF-8, a character each. */
    private static String pick(String section, SplittableRandom random) {
        List<String> words = WORDS.get(section);
        return new String(
                words.get(random.nextInt(words.size())).getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
