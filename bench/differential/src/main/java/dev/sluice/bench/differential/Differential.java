package dev.sluice.bench.differential;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/**
 * Runs the comparisons and records them.
 *
 * @param console where it is said how far it is
 * @param environment machine, JVM and versions, by these names
 * @param results folder of what is recorded
 * @param page to be written from it
 */
public record Differential(PrintWriter console, Map<String, Map<String, String>> environment, Path results, Path page) {

    /**
     * Compares generated bodies.
     *
     * @param bodies at most this many
     * @param limit of time, after which fewer are enough
     * @return whether there is an explanation for every disagreement
     * @throws IOException where results cannot be written
     */
    public boolean bodies(String command, long bodies, Duration limit, long seed) throws IOException {
        Instant start = Instant.now();
        Bodies comparison = new Bodies(seed);
        comparison.compare(bodies, done -> {
            if (done % 10_000 == 0) {
                console.printf("%,d of %,d bodies, %d s%n", done, bodies, seconds(start));
                console.flush();
            }
            return Duration.between(start, Instant.now()).compareTo(limit) < 0;
        });
        BodiesReport report = comparison.report(command, now(), environment, seconds(start));
        Page.write(results, report);
        writePage();
        report.peers().forEach(console::println);
        report.unexplained()
                .forEach(each -> console.println("not explained: " + each.signature() + ", in " + each.bodies()
                        + " bodies:\n  " + each.contentType() + "\n  " + each.body() + "\n  Sluice " + each.sluice()
                        + "\n  theirs " + each.other()));
        console.printf(
                "%,d bodies, STRICT accepts %,d; %d kinds of disagreement, %d not explained%n",
                report.bodies(),
                report.strict(),
                report.disagreements().size(),
                report.unexplained().size());
        return report.unexplained().isEmpty();
    }

    /**
     * Splits the bodies of the corpus.
     *
     * @param largest body that is split, in bytes
     * @return whether Sluice reads every split as the whole
     * @throws IOException where results cannot be written
     */
    public boolean splits(String command, int largest) throws IOException {
        Instant start = Instant.now();
        Splits comparison = new Splits(largest);
        comparison.compare(id -> {
            console.printf("%4d s  %s%n", seconds(start), id);
            console.flush();
        });
        SplitsReport report = comparison.report(command, now(), environment, seconds(start));
        Page.write(results, report);
        writePage();
        for (SplitsReport.Row row : report.readers()) {
            console.printf(
                    "%-18s %,9d splits, %,6d wrong in %d bodies%n",
                    row.reader(), row.splits(), row.wrong(), row.wrongBodies());
        }
        return report.readers().stream()
                .filter(row -> row.reader().startsWith("Sluice"))
                .allMatch(row -> row.wrong() == 0);
    }

    /** Writes the page anew from what is recorded. */
    public void writePage() throws IOException {
        Files.writeString(page, Page.text(results));
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private static long seconds(Instant start) {
        return Duration.between(start, Instant.now()).toSeconds();
    }
}
