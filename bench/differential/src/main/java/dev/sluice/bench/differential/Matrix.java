package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Body;
import dev.sluice.testkit.Corpus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * The results of the conformance suite. Each reading is compared with the reading of STANDARD, which other tests compare with the verdict of
 * the case.
 */
final class Matrix {
    /** How a parser reads a case. */
    enum Result {
        AGREES,
        /** Rejects a body that STANDARD accepts. */
        STRICTER,
        /** Accepts a body that STANDARD rejects. */
        LOOSER,
        /** Accepts the body, like STANDARD, but reads something else. */
        WRONG,
        /** Reads the body differently if it arrives in other chunks. */
        DEPENDS_ON_CUT
    }

    interface Parser {
        List<Reading> read(List<Body> bodies) throws IOException;
    }

    private Matrix() {}

    /** Returns the page with a row for each parser, with the results of every n-th case. */
    static String page(Map<Contender, ReaderProcess> readers, int every) throws IOException {
        StringBuilder rows = new StringBuilder();
        for (Sluice preset : Sluice.values()) {
            rows.append(row("Sluice, " + preset, results(of(preset), Reading::sameParts, every)));
        }
        for (Contender contender : Contender.values()) {
            if (Contender.javaParsers().contains(contender)) {
                Parser parser = bodies -> bodies.stream().map(contender::read).toList();
                rows.append(row(contender.title, results(parser, sameAs(contender), every)));
            } else if (Contender.foreign().contains(contender)) {
                Parser parser = readers.get(contender)::read;
                rows.append(row(contender.title, results(parser, sameAs(contender), every)));
            }
        }
        return Page.section("matrix", rows);
    }

    private static BiPredicate<Reading, Reading> sameAs(Contender contender) {
        return (ours, theirs) -> contender.difference(ours, theirs).isEmpty();
    }

    static Parser of(Sluice preset) {
        return bodies -> bodies.stream()
                .map(body -> preset.boundary(body.contentType())
                        .map(boundary -> preset.read(boundary, body))
                        .orElse(new Reading(List.of(), "no boundary")))
                .toList();
    }

    /** Returns the number of cases by result. */
    static Map<Result, Integer> results(Parser parser, BiPredicate<Reading, Reading> same) throws IOException {
        return results(parser, same, 1);
    }

    private static Map<Result, Integer> results(Parser parser, BiPredicate<Reading, Reading> same, int every)
            throws IOException {
        Map<Result, Integer> results = new EnumMap<>(Result.class);
        for (int i = 0; i < Corpus.cases().size(); i += every) {
            Corpus.Case each = Corpus.cases().get(i);
            // Java parsers need a boundary, so the few cases without one say nothing about them.
            String boundary = Sluice.COMPATIBLE
                    .boundary(each.contentType())
                    .map(found -> found.value())
                    .orElse("");
            if (each.isFormData() && !boundary.isEmpty()) {
                Sample sample = new Sample(Sample.Origin.CORPUS, each.contentType(), each.body());
                List<Body> bodies = new ArrayList<>();
                for (int size : Corpus.chunkSizes(each.body().length)) {
                    bodies.add(sample.chunked(boundary, size));
                }
                results.merge(result(Sluice.STANDARD.read(sample), parser.read(bodies), same), 1, Integer::sum);
            }
        }
        return results;
    }

    private static Result result(Reading ours, List<Reading> theirs, BiPredicate<Reading, Reading> same) {
        Reading whole = theirs.get(0);
        if (!theirs.stream().allMatch(whole::sameOutcome)) {
            return Result.DEPENDS_ON_CUT;
        }
        if (!whole.accepts()) {
            return ours.accepts() ? Result.STRICTER : Result.AGREES;
        }
        return !ours.accepts() ? Result.LOOSER : same.test(ours, whole) ? Result.AGREES : Result.WRONG;
    }

    private static String row(String title, Map<Result, Integer> results) {
        StringBuilder row = new StringBuilder("| " + title);
        for (Result result : Result.values()) {
            row.append(" | ").append(results.getOrDefault(result, 0));
        }
        return row.append(" |\n").toString();
    }
}
