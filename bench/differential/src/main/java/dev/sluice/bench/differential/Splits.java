package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.Boundary;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.Soup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Consumer;

/**
 * The comparison of split bodies with whole bodies. Each body of the corpus that is not too large is split into two chunks at every
 * possible position. Not thread-safe.
 */
final class Splits {
    private static final int SHOWN = 12;

    /**
     * The results of a comparison.
     *
     * @param bodies the number of bodies that were split
     * @param bytes the total size of these bodies
     * @param skipped the number of bodies that were not split because they have no boundary or are too large
     */
    record Report(@JsonUnwrapped Provenance provenance, long bodies, long bytes, long skipped, List<Row> readers) {
        /** The results of one parser: the number of splits, of wrong splits, and of bodies with a wrong split. */
        static final class Row {
            public String reader;
            public long splits;
            public long wrong;
            public long wrongBodies;
            public List<Kind> kinds = new ArrayList<>();
        }

        /** A kind of error, with the first body that shows it, the index of the split, and the bytes around the split. */
        static final class Kind {
            public String title;
            public long splits;
            public String body;
            public int cut;
            public String around;
        }
    }

    /** A parser, and the criterion for equal outcomes. */
    private record Reader(
            BiFunction<Boundary, Body, Reading> read,
            BiPredicate<Reading, Reading> same,
            boolean readsNames,
            Report.Row row) {}

    private final int largest;
    private final List<Reader> readers = new ArrayList<>();
    private long bodies;
    private long bytes;
    private long skipped;

    /** @param largest the largest size of bodies that are split */
    Splits(int largest) {
        this.largest = largest;
        // If Sluice rejects a body, the reason, the position and the parts before it must be the same, too.
        BiPredicate<Reading, Reading> exactly =
                (one, other) -> one.sameParts(other) && Objects.equals(one.refusal(), other.refusal());
        add("Sluice, STANDARD", Sluice.STANDARD::read, exactly, true);
        add("Sluice, STRICT", Sluice.STRICT::read, exactly, true);
        for (Contender each : Contender.javaParsers()) {
            add(each.title, (boundary, body) -> each.read(body), Reading::sameOutcome, each.readsNames());
        }
    }

    private void add(
            String title,
            BiFunction<Boundary, Body, Reading> read,
            BiPredicate<Reading, Reading> same,
            boolean readsNames) {
        Report.Row row = new Report.Row();
        row.reader = title;
        readers.add(new Reader(read, same, readsNames, row));
    }

    /** Splits all bodies. Before each body, {@code progress} receives its id. */
    void compare(Consumer<String> progress) {
        for (Corpus.Case each : Corpus.cases()) {
            Sample sample = new Sample(Sample.Origin.CORPUS, each.contentType(), each.body());
            Optional<Boundary> boundary = Sluice.STANDARD.boundary(each.contentType());
            if (each.body().length > largest || boundary.isEmpty()) {
                skipped++;
                continue;
            }
            progress.accept(each.id());
            bodies++;
            bytes += each.body().length;
            for (Reader reader : readers) {
                split(reader, each.id(), sample, boundary.get());
            }
        }
    }

    private static void split(Reader reader, String id, Sample sample, Boundary boundary) {
        Reading whole = reader.read.apply(boundary, sample.whole(boundary.value()));
        long before = reader.row.wrong;
        for (int cut = 1; cut < sample.bytes().length; cut++) {
            Reading split = reader.read.apply(boundary, sample.cut(boundary.value(), cut));
            reader.row.splits++;
            if (!reader.same.test(whole, split)) {
                reader.row.wrong++;
                kind(reader.row.kinds, title(whole, split, reader.readsNames), id, sample, cut).splits++;
            }
        }
        reader.row.wrongBodies += reader.row.wrong > before ? 1 : 0;
    }

    private static Report.Kind kind(List<Report.Kind> kinds, String title, String id, Sample sample, int cut) {
        for (Report.Kind kind : kinds) {
            if (kind.title.equals(title)) {
                return kind;
            }
        }
        Report.Kind first = new Report.Kind();
        first.title = title;
        first.body = id;
        first.cut = cut;
        first.around = around(sample.bytes(), cut);
        kinds.add(first);
        return first;
    }

    private static String title(Reading whole, Reading split, boolean names) {
        if (!whole.accepts()) {
            return split.accepts() ? "accepted, but the whole body is rejected" : "rejected for another reason";
        }
        if (!split.accepts()) {
            return "rejected, but the whole body is accepted";
        }
        return Difference.between(whole, split, names)
                .map(difference -> difference.title)
                .orElse("the same");
    }

    private static String around(byte[] bytes, int cut) {
        return Soup.escape(Arrays.copyOfRange(bytes, Math.max(0, cut - SHOWN), cut)) + " | "
                + Soup.escape(Arrays.copyOfRange(bytes, cut, Math.min(bytes.length, cut + SHOWN)));
    }

    Report report(Provenance provenance) {
        List<Report.Row> rows = readers.stream().map(Reader::row).toList();
        return new Report(provenance, bodies, bytes, skipped, rows);
    }
}
