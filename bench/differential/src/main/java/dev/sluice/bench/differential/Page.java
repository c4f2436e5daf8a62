package dev.sluice.bench.differential;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The recorded comparisons as files, and as a page to read. */
final class Page {
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    static final String BODIES = "bodies.json";
    static final String READERS = "readers.json";
    static final String SPLITS = "splits.json";
    private static final int SHOWN = 240;

    private Page() {}

    static void write(Path file, Object report) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, JSON.writeValueAsString(report) + "\n");
    }

    /** {@return the page of what is recorded in a folder} */
    static String text(Path folder) throws IOException {
        StringBuilder text = new StringBuilder("""
            # How other parsers read what Sluice accepts

            Written by `java -jar bench/differential/target/sluice-differential.jar`; do not edit. A test fails when this page is out of date.

            """);
        if (Files.exists(folder.resolve(BODIES))) {
            bodies(text, JSON.readValue(folder.resolve(BODIES).toFile(), BodiesReport.class));
        }
        if (Files.exists(folder.resolve(READERS))) {
            readers(text, JSON.readValue(folder.resolve(READERS).toFile(), Readers.Report.class));
        }
        if (Files.exists(folder.resolve(SPLITS))) {
            splits(text, JSON.readValue(folder.resolve(SPLITS).toFile(), Splits.Report.class));
        }
        return text.append('\n').append(Fetch.section()).toString();
    }

    private static void bodies(StringBuilder text, BodiesReport report) {
        text.append("""
            ## The same bodies to all

            A body that STRICT accepts is read by every other parser in one piece, and the lists of (name, file name, \
            content) are compared in order. A parser may refuse the body; if it accepts it, it should read the same. \
            Where it does not, the cause is found by experiment: single features of the body are taken away until \
            both agree. Each pair of cause and effect has to be explained as a defect of the other parser, by a \
            sentence of a standard, or the command fails.

            """);
        text.append(report.provenance());
        text.append("| Bodies | in all | STANDARD accepts | STRICT accepts |\n|---|---:|---:|---:|\n");
        for (BodiesReport.Origin origin : report.origins()) {
            text.append(row(origin.origin.title, origin.bodies, origin.standard, origin.strict));
        }
        text.append(row(
                "all",
                report.sum(each -> each.bodies),
                report.sum(each -> each.standard),
                report.sum(each -> each.strict)));
        text.append("""

            ### What STRICT accepts

            The parsers without names leave Content-Disposition to the caller; of them only the content is compared.

            | Parser | version | names | agrees | reads something else | refuses |
            |---|---|---|---:|---:|---:|
            """);
        for (BodiesReport.Agreement peer : report.peers()) {
            String version = report.provenance().versions().getOrDefault(peer.peer.library, "");
            String names = peer.peer.tellsNames() ? "yes" : "no";
            text.append(row(peer.peer.title, version, names, peer.agrees, peer.differs, peer.refuses));
        }
        text.append("""

            ### Why they read something else

            %d kinds of disagreement, %s. A body with several counts in several lines.

            | Because of | Parser | bodies | it reads | What it does | The standard |
            |---|---|---:|---|---|---|
            """.formatted(report.disagreements().size(), explained(report)));
        Map<String, List<BodiesReport.Disagreement>> byCause = report.disagreements().stream()
                .sorted(Comparator.comparing(each -> each.feature))
                .collect(Collectors.groupingBy(
                        each -> Explanations.of(each.signature())
                                        .map(found -> Integer.toString(
                                                Explanations.all().indexOf(found)))
                                        .orElse("none")
                                + each.feature,
                        LinkedHashMap::new,
                        Collectors.toList()));
        byCause.values().forEach(group -> cause(text, group));
        text.append("\n### An example of each cause\n\nThe shortest body found, with escapes.\n\n");
        byCause.values().forEach(group -> example(text, group.get(0)));
        text.append("""

            ### What only STANDARD accepts

            Bodies with exactly one kind of deviation that STANDARD takes and reports, and STRICT refuses: this is what \
            is to be lost, or won, by going strict. Of the bodies: agrees / reads something else / refuses.

            """);
        tolerated(text, report);
    }

    private static void readers(StringBuilder text, Readers.Report report) {
        text.append("""
            ## Readers that are not Java

            Forms that STRICT accepts are given to parsers of other languages, each a process of its own with its usual \
            limits out of the way and set to UTF-8. Compared are name, file name and content of the parts, in their order. \
            A reader may refuse the form; Python's `email`, which never refuses, is taken to do so where it tells a defect. \
            This is no difference, and nothing else is forgiven:

            - File names are compared from their last `/` or `\\` on.
            - An empty file name is none, and a part that has one may be missing: nothing was chosen.
            - Django and undici hand out a field as text in UTF-8 only; of them its text is compared, and of bytes that are no \
            UTF-8 that they are none.
            - PHP's names are what PHP makes of ours: `a.b` is `a_b`, brackets make arrays, of two parts of one name the \
            last remains, an empty name is ignored, and so is a file in whose name brackets do not pair.

            """);
        text.append(report.provenance());
        text.append("| Forms | that STRICT accepts |\n|---|---:|\n");
        report.forms().forEach((origin, count) -> text.append(row(origin.title, count)));
        text.append("\n| Reader | version | agrees | reads something else | refuses |\n|---|---|---:|---:|---:|\n");
        for (BodiesReport.Agreement peer : report.peers()) {
            String version = report.readers().get(peer.peer.id());
            text.append(row(peer.peer.title, version, peer.agrees, peer.differs, peer.refuses));
        }
        text.append("""

            ### Their defects

            %d kinds of disagreement, %s. A form with several counts in several lines. Each body is as short as it can be \
            (boundary `x`; with escapes), and a test asks the readers whether it still shows the defect.

            | Because of | Reader | forms | What it does | The standard | Body |
            |---|---|---:|---|---|---|
            """.formatted(
                        report.disagreements().size(), explained(BodiesReport.unexplained(report.disagreements()))));
        for (Explanations.Explanation each : Explanations.all()) {
            if (each.minimal() != null) {
                List<BodiesReport.Disagreement> found = report.disagreements().stream()
                        .filter(one -> Explanations.of(one.signature()).equals(Optional.of(each)))
                        .toList();
                text.append(row(
                        each.features().stream().map(one -> one.title).collect(Collectors.joining(", or ")),
                        each.contenders().stream().map(one -> one.title).collect(Collectors.joining(", ")),
                        found.stream().mapToLong(one -> one.bodies).sum(),
                        each.text(),
                        each.rule(),
                        minimal(each.minimal())));
            }
        }
        text.append('\n');
    }

    static String minimal(Sample sample) {
        String type = sample.contentType().equals(Explanations.USUAL_TYPE) ? "" : "`" + sample.contentType() + "` and ";
        return type + "`` " + sample.escaped().replace("\\\"", "\"").replace("|", "\\|") + " ``";
    }

    private static String explained(BodiesReport report) {
        return explained(report.unexplained());
    }

    private static String explained(List<BodiesReport.Disagreement> left) {
        int unexplained = left.size();
        return unexplained == 0 ? "all explained" : unexplained + " of them not explained";
    }

    private static void cause(StringBuilder text, List<BodiesReport.Disagreement> group) {
        Signature first = group.get(0).signature();
        Optional<Explanations.Explanation> explanation = Explanations.of(first);
        String peers = distinct(group, each -> each.peer.title);
        String effects = distinct(group, each -> each.difference.title);
        // Peers that share their code read the same bodies, so the largest count stands for all.
        Map<Contender, Long> counts = new LinkedHashMap<>();
        group.forEach(each -> counts.merge(each.peer, each.bodies, Long::sum));
        long least = Collections.min(counts.values());
        long most = Collections.max(counts.values());
        text.append(row(
                first.feature().title,
                peers,
                least == most ? number(most) : number(least) + " to " + number(most),
                effects,
                explanation.map(Explanations.Explanation::text).orElse("**not explained**"),
                explanation.map(Explanations.Explanation::rule).orElse("")));
    }

    private static String distinct(
            List<BodiesReport.Disagreement> group, Function<BodiesReport.Disagreement, String> title) {
        return group.stream().map(title).distinct().sorted().collect(Collectors.joining(", "));
    }

    private static void example(StringBuilder text, BodiesReport.Disagreement each) {
        text.append("- %s, %s:\n  ```\n  %s\n  Sluice %s\n  theirs %s\n  ```\n"
                .formatted(
                        each.feature.title, each.peer.title, shown(each.body), shown(each.sluice), shown(each.other)));
    }

    private static void tolerated(StringBuilder text, BodiesReport report) {
        List<String> peers =
                report.peers().stream().map(peer -> peer.peer.title).toList();
        text.append("| Deviation | bodies | ").append(String.join(" | ", peers)).append(" |\n");
        text.append("|---|---:|").append("---:|".repeat(peers.size())).append('\n');
        for (BodiesReport.Tolerated each : report.tolerated()) {
            text.append("| `%s` | %s |".formatted(each.deviation(), number(each.bodies())));
            for (BodiesReport.Agreement peer : each.peers()) {
                text.append(" %d / %d / %d |".formatted(peer.agrees, peer.differs, peer.refuses));
            }
            text.append('\n');
        }
        text.append('\n');
    }

    private static void splits(StringBuilder text, Splits.Report report) {
        text.append("""
            ## Peers' split errors

            Every body of the corpus is cut into two chunks at every byte, and what is read is compared with what is \
            read of the whole body. For Sluice, reason and place of a refusal and the parts before it have to be the \
            same too. Commons FileUpload, Tomcat, OkHttp, mimepull and Helidon pull from a stream into a buffer \
            of their own: there a cut is where one read ends, and the next has to go on. %s bodies of %s bytes%s.

            """.formatted(
                number(report.bodies()),
                number(report.bytes()),
                report.skipped() == 0 ? "" : "; %d have no boundary or were left out".formatted(report.skipped())));
        text.append(report.provenance());
        text.append("| Parser | splits | wrong | bodies with a wrong one |\n|---|---:|---:|---:|\n");
        for (Splits.Report.Row row : report.readers()) {
            text.append(row(row.reader, row.splits, row.wrong, row.wrongBodies));
        }
        List<Splits.Report.Row> wrong =
                report.readers().stream().filter(row -> row.wrong > 0).toList();
        if (!wrong.isEmpty()) {
            text.append(
                    "\n| Parser | what is wrong | splits | first seen in | around the cut |\n|---|---|---:|---|---|\n");
        }
        for (Splits.Report.Row row : wrong) {
            for (Splits.Report.Kind kind : row.kinds) {
                String around = "`" + kind.around.replace("|", "\\|") + "`";
                text.append(row(row.reader, kind.title, kind.splits, kind.body + " at " + kind.cut, around));
            }
        }
        wrong.stream()
                .flatMap(row -> Explanations.ofSplits(row.reader).stream())
                .distinct()
                .forEach(cause -> text.append('\n').append(cause).append('\n'));
    }

    private static String shown(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }

    private static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String row(Object... cells) {
        return Arrays.stream(cells)
                .map(cell -> cell instanceof Long count ? number(count) : cell.toString())
                .collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
