package dev.sluice.bench.differential;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.bench.body.Body;
import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.Soup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/** Splits every body of the corpus into two chunks at every byte and compares the outcome with the whole body's. One thread. */
final class Splits {
    private static final int SHOWN = 12;

    /** Who reads splits, and when two outcomes are the same. */
    private static final class Reader {
        final String title;
        final BiFunction<Boundary, Body, Reading> read;
        final BiPredicate<Reading, Reading> same;
        final boolean tellsNames;
        final Map<String, SplitsReport.Kind> kinds = new LinkedHashMap<>();
        long splits;
        long wrong;
        long wrongBodies;

        Reader(
                String title,
                BiFunction<Boundary, Body, Reading> read,
                BiPredicate<Reading, Reading> same,
                boolean tellsNames) {
            this.title = title;
            this.read = read;
            this.same = same;
            this.tellsNames = tellsNames;
        }
    }

    private final int largest;
    private final List<Reader> readers = new ArrayList<>();
    private long bodies;
    private long bytes;
    private long skipped;

    /** @param largest size of bodies that are split, in bytes; larger ones are skipped */
    Splits(int largest) {
        this.largest = largest;
        // Of Sluice also reason and place of a refusal, and the parts before it, have to be the same.
        BiPredicate<Reading, Reading> exactly =
                (one, other) -> one.sameParts(other) && Objects.equals(one.refusal(), other.refusal());
        readers.add(new Reader("Sluice, STANDARD", Sluice.STANDARD::read, exactly, true));
        readers.add(new Reader("Sluice, STRICT", Sluice.STRICT::read, exactly, true));
        for (Contender contender : Contender.here()) {
            readers.add(new Reader(
                    contender.title,
                    (boundary, body) -> contender.read(body),
                    Reading::sameOutcome,
                    contender.tellsNames()));
        }
    }

    /** Splits all bodies; {@code progress} is told the id of each before. */
    void compare(Consumer<String> progress) {
        for (Corpus.Case each : Corpus.cases()) {
            Sample sample = new Sample(Sample.Origin.CORPUS, each.contentType(), each.body());
            if (each.body().length > largest) {
                skipped++;
                continue;
            }
            try {
                Boundary boundary = Sluice.STANDARD.boundary(each.contentType());
                progress.accept(each.id());
                bodies++;
                bytes += each.body().length;
                for (Reader reader : readers) {
                    split(reader, each.id(), sample, boundary);
                }
            } catch (MultipartException e) {
                skipped++;
            }
        }
    }

    private static void split(Reader reader, String id, Sample sample, Boundary boundary) {
        Reading whole = reader.read.apply(boundary, sample.whole(boundary.value()));
        long before = reader.wrong;
        for (int cut = 1; cut < sample.bytes().length; cut++) {
            Reading split = reader.read.apply(boundary, sample.cut(boundary.value(), cut));
            reader.splits++;
            if (!reader.same.test(whole, split)) {
                reader.wrong++;
                String title = title(whole, split, reader.tellsNames);
                SplitsReport.Kind first = new SplitsReport.Kind(title, 0, id, cut, around(sample.bytes(), cut));
                SplitsReport.Kind kind = reader.kinds.getOrDefault(title, first);
                reader.kinds.put(
                        title, new SplitsReport.Kind(title, kind.splits() + 1, kind.body(), kind.cut(), kind.around()));
            }
        }
        reader.wrongBodies += reader.wrong > before ? 1 : 0;
    }

    private static String title(Reading whole, Reading split, boolean names) {
        if (!whole.accepts()) {
            return split.accepts() ? "accepted, whole refused" : "another refusal";
        }
        if (!split.accepts()) {
            return "refused, whole accepted";
        }
        return Difference.between(whole, split, names)
                .map(difference -> difference.title)
                .orElse("the same");
    }

    private static String around(byte[] bytes, int cut) {
        return Soup.escape(Arrays.copyOfRange(bytes, Math.max(0, cut - SHOWN), cut)) + " | "
                + Soup.escape(Arrays.copyOfRange(bytes, cut, Math.min(bytes.length, cut + SHOWN)));
    }

    /** {@return what was found so far} */
    SplitsReport report(Provenance provenance) {
        return new SplitsReport(
                provenance,
                bodies,
                bytes,
                skipped,
                readers.stream()
                        .map(reader -> new SplitsReport.Row(
                                reader.title,
                                reader.splits,
                                reader.wrong,
                                reader.wrongBodies,
                                List.copyOf(reader.kinds.values())))
                        .toList());
    }
}
