package dev.sluice.bench.differential;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.sluice.bench.differential.Findings.Disagreement;
import dev.sluice.bench.differential.Findings.Signature;
import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.Soup;
import dev.sluice.testkit.TextTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The files of recorded comparisons, and the page generated from them. The texts of the page are Markdown resources. */
final class Page {
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    static final String BODIES = "bodies.json";
    static final String READERS = "readers.json";
    static final String SPLITS = "splits.json";
    static final String WRITTEN = "written.json";
    private static final int SHOWN = 240;

    private Page() {}

    static void write(Path file, Object report) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, JSON.writeValueAsString(report) + "\n");
    }

    static <R> R read(Path file, Class<R> type) throws IOException {
        return JSON.readValue(file.toFile(), type);
    }

    /** Generates the page from the recorded comparisons in a folder. */
    static String text(Path folder) throws IOException {
        return section("page")
                + recorded(folder.resolve(BODIES), Bodies.Report.class, Page::bodies)
                + recorded(folder.resolve(READERS), Readers.Report.class, Page::readers)
                + recorded(folder.resolve(WRITTEN), Written.Report.class, Page::written)
                + recorded(folder.resolve(SPLITS), Splits.Report.class, Page::splits)
                + Fetch.section();
    }

    private static <R> String recorded(Path file, Class<R> type, Function<R, String> section) throws IOException {
        return Files.exists(file) ? section.apply(read(file, type)) : "";
    }

    /** Returns a section of the page, with {@code %s} replaced by the values. */
    static String section(String name, Object... values) {
        return TextTable.text("/dev/sluice/bench/differential/" + name + ".md").formatted(values);
    }

    private static String bodies(Bodies.Report report) {
        Collection<List<Disagreement>> causes = report.disagreements().stream()
                .sorted(Comparator.comparing(each -> each.signature().feature()))
                .collect(Collectors.groupingBy(
                        each -> List.of(
                                Explanation.of(each.signature()),
                                each.signature().feature()),
                        LinkedHashMap::new,
                        Collectors.toList()))
                .values();
        return section(
                "bodies",
                provenance(report.provenance()),
                each(report.origins(), one -> row(one.origin.title, one.bodies, one.standard, one.strict)),
                row(
                        "all",
                        report.sum(one -> one.bodies),
                        report.sum(one -> one.standard),
                        report.sum(one -> one.strict)),
                each(report.peers(), one -> {
                    String version = report.provenance().versions().getOrDefault(one.peer.library, "");
                    String names = one.peer.readsNames() ? "yes" : "no";
                    return row(one.peer.title, version, names, one.agrees, one.differs, one.refuses);
                }),
                kinds(report.disagreements()),
                each(causes, Page::cause),
                each(causes, Page::example),
                tolerated(report));
    }

    private static String readers(Readers.Report report) {
        return section(
                "readers",
                provenance(report.provenance()),
                each(report.forms().entrySet(), one -> row(one.getKey().title, one.getValue())),
                each(report.peers(), one -> {
                    String version = report.readers().get(one.peer.id());
                    return row(one.peer.title, version, one.agrees, one.differs, one.refuses);
                }),
                kinds(report.disagreements()),
                each(defects(report.readers().keySet()), one -> {
                    long forms = report.disagreements().stream()
                            .filter(found -> Explanation.of(found.signature()).equals(Optional.of(one)))
                            .mapToLong(Disagreement::bodies)
                            .sum();
                    String features = one.features().stream()
                            .map(feature -> feature.title)
                            .collect(Collectors.joining(", or "));
                    String titles = one.contenders().stream()
                            .map(contender -> contender.title)
                            .collect(Collectors.joining(", "));
                    return row(features, titles, forms, one.text(), one.rule(), minimal(one.minimal()));
                }));
    }

    /** Returns the defects of the readers in the recorded comparison. The page omits a new reader until the next comparison is recorded. */
    private static List<Explanation> defects(Set<String> recorded) {
        return Explanation.defects().stream()
                .filter(one -> one.contenders().stream().map(Contender::id).anyMatch(recorded::contains))
                .toList();
    }

    private static String written(Written.Report report) {
        return section(
                "written",
                provenance(report.provenance()),
                number(report.encoded()),
                number(report.relayed()),
                each(report.refusals().entrySet(), one -> row(one.getKey(), one.getValue())),
                each(report.readers(), one -> {
                    String changes = one.names.entrySet().stream()
                            .map(change ->
                                    "`%s` to `%s`".formatted(shownName(change.getKey()), shownName(change.getValue())))
                            .collect(Collectors.joining(", "));
                    return row(one.reader.title, one.same, one.differs, one.rejects, changes);
                }));
    }

    /** Returns a name with escapes, and with a mark if it is empty or ends with a space. */
    private static String shownName(String text) {
        String escaped = Soup.escape(text.getBytes(StandardCharsets.UTF_8)).replace("\\\"", "\"");
        return escaped.endsWith(" ") || escaped.isEmpty() ? escaped + "(blank)" : escaped;
    }

    static String minimal(Sample sample) {
        String type = sample.contentType().equals(Explanation.USUAL_TYPE) ? "" : "`" + sample.contentType() + "` and ";
        return type + "`` " + sample.escaped().replace("\\\"", "\"").replace("|", "\\|") + " ``";
    }

    private static String kinds(List<Disagreement> disagreements) {
        int unexplained = Explanation.unexplained(disagreements).size();
        return disagreements.size() + " kinds of disagreement were found, "
                + (unexplained == 0 ? "and all are explained" : "and " + unexplained + " of them are not explained");
    }

    private static String cause(List<Disagreement> group) {
        Signature first = group.get(0).signature();
        Optional<Explanation> explanation = Explanation.of(first);
        // Parsers with shared code read the same bodies, so their counts are given as a range.
        Map<Contender, Long> counts = new LinkedHashMap<>();
        group.forEach(each -> counts.merge(each.signature().peer(), each.bodies(), Long::sum));
        long least = Collections.min(counts.values());
        long most = Collections.max(counts.values());
        return row(
                first.feature().title,
                distinct(group, each -> each.peer().title),
                least == most ? number(most) : number(least) + " to " + number(most),
                distinct(group, each -> each.difference().title),
                explanation.map(Explanation::text).orElse("**not explained**"),
                explanation.map(Explanation::rule).orElse(""));
    }

    private static String distinct(List<Disagreement> group, Function<Signature, String> title) {
        return group.stream()
                .map(each -> title.apply(each.signature()))
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private static String example(List<Disagreement> group) {
        Disagreement each = group.get(0);
        String what = each.signature().feature().title + ", " + each.signature().peer().title;
        return "- %s:\n  ```\n  %s\n  Sluice %s\n  theirs %s\n  ```\n"
                .formatted(what, shown(each.body()), shown(each.sluice()), shown(each.other()));
    }

    private static String tolerated(Bodies.Report report) {
        String peers = report.peers().stream().map(one -> one.peer.title).collect(Collectors.joining(" | "));
        String counts = "---:|".repeat(report.peers().size() + 1);
        return row("Deviation", "bodies", peers)
                + "|---|" + counts + "\n"
                + each(report.tolerated(), one -> {
                    String cells = one.peers().stream()
                            .map(peer -> "%d / %d / %d".formatted(peer.agrees, peer.differs, peer.refuses))
                            .collect(Collectors.joining(" | "));
                    return row("`" + one.deviation() + "`", one.bodies(), cells);
                });
    }

    private static String splits(Splits.Report report) {
        List<Splits.Report.Row> wrong =
                report.readers().stream().filter(row -> row.wrong > 0).toList();
        String head = "\n| Parser | error | splits | first found in | around the cut |\n|---|---|---:|---|---|\n";
        return section(
                "splits",
                number(report.bodies()),
                number(report.bytes()),
                report.skipped() == 0 ? "" : "; %d more have no boundary or are too large".formatted(report.skipped()),
                provenance(report.provenance()),
                each(report.readers(), row -> row(row.reader, row.splits, row.wrong, row.wrongBodies)),
                wrong.isEmpty() ? "" : head,
                each(
                        wrong,
                        row -> each(row.kinds, kind -> {
                            String around = "`" + kind.around.replace("|", "\\|") + "`";
                            return row(row.reader, kind.title, kind.splits, kind.body + " at " + kind.cut, around);
                        })),
                wrong.stream()
                        .flatMap(row -> Explanation.ofSplits(row.reader).stream())
                        .distinct()
                        .map(cause -> "\n" + cause + "\n")
                        .collect(Collectors.joining()));
    }

    private static String provenance(Provenance made) {
        return "`%s`; %s; %s. %s s."
                .formatted(made.command(), made.date(), made.where(), number(Math.round(made.seconds())));
    }

    private static String shown(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }

    private static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static <T> String each(Collection<T> all, Function<T, String> text) {
        return all.stream().map(text).collect(Collectors.joining());
    }

    static String row(Object... cells) {
        return Arrays.stream(cells)
                .map(cell -> cell instanceof Long count ? number(count) : cell.toString())
                .collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
