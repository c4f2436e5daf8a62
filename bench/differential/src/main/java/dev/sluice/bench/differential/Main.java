package dev.sluice.bench.differential;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code java -jar sluice-differential.jar}: reads the same bodies with Sluice and with every other parser. */
@Command(
        name = "sluice-differential",
        mixinStandardHelpOptions = true,
        description = {
            "Gives the same bodies to Sluice and to every other parser, and explains where they read something else.",
            "Exit code 1 when a disagreement has no explanation, or when Sluice reads a split body otherwise than the whole."
        })
public final class Main implements Callable<Integer> {
    private static final long SEED = 20_261_120;
    private static final long QUICK_BODIES = 2_000;
    private static final int QUICK_LARGEST = 256;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--splits", description = "Splits the corpus instead, every body at every byte.")
    private boolean splits;

    @Option(
            names = "--readers",
            description = "Compares forms that STRICT accepts with readers that are not Java instead.")
    private boolean readers;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "With --readers: of the forms (default: ${DEFAULT-VALUE}).")
    private long seed = SEED;

    @Option(names = "--page-only", description = "Only writes the page anew from what is recorded.")
    private boolean pageOnly;

    @Option(names = "--bodies", paramLabel = "N", description = "How many bodies (default: ${DEFAULT-VALUE}).")
    private long bodies = 1_000_000;

    @Option(
            names = "--largest",
            paramLabel = "N",
            description = "With --splits: leaves out larger bodies (default: no limit).")
    private int largest = Integer.MAX_VALUE;

    @Option(
            names = "--quick",
            description =
                    "2,000 bodies, or bodies of up to 256 bytes; results and page go to bench/differential/target.")
    private boolean quick;

    private Main() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        // Parsers that log each body they refuse.
        LogManager.getLogManager().reset();
        Logger.getLogger("").setLevel(Level.OFF);
        Path results = Path.of("bench", quick ? "differential/target" : "results/differential");
        Path page = quick ? results.resolve("differential.md") : Path.of("parser/docs/differential.md");
        boolean fine = pageOnly || (splits ? splits(results) : readers ? readers(results) : bodies(results));
        Files.writeString(page, Page.text(results));
        return fine ? 0 : 1;
    }

    /** {@return whether there is an explanation for every disagreement} */
    private boolean bodies(Path results) throws IOException {
        PrintWriter console = spec.commandLine().getOut();
        Instant start = Instant.now();
        long count = quick ? QUICK_BODIES : bodies;
        Bodies comparison = new Bodies(SEED);
        comparison.compare(0, count, done -> {
            if (done % 10_000 == 0) {
                console.printf("%,d of %,d bodies, %d s%n", done, count, seconds(start));
                console.flush();
            }
        });
        BodiesReport report = comparison.report(Provenance.of("--bodies " + count, start));
        Page.write(results.resolve(Page.BODIES), report);
        report.peers().forEach(console::println);
        console.printf(
                "%,d bodies, STRICT accepts %,d%n", report.sum(each -> each.bodies), report.sum(each -> each.strict));
        return explained(report.disagreements(), console);
    }

    /** {@return whether there is an explanation for every disagreement} */
    private boolean readers(Path results) throws IOException {
        PrintWriter console = spec.commandLine().getOut();
        Path folder = ReaderProcess.folder();
        if (folder == null) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "SLUICE_READERS is to name a folder that .ci/readers has filled");
        }
        Instant start = Instant.now();
        long count = quick ? QUICK_BODIES : bodies;
        AtomicLong done = new AtomicLong();
        int workers = Runtime.getRuntime().availableProcessors();
        List<CompletableFuture<Readers>> comparisons = IntStream.range(0, workers)
                .mapToObj(worker -> CompletableFuture.supplyAsync(
                        () -> {
                            long first = count * worker / workers;
                            try (Readers comparison = new Readers(folder, seed)) {
                                comparison.compare(first, count * (worker + 1) / workers - first, more -> {
                                    long sum = done.addAndGet(more);
                                    if (sum / 10_000 > (sum - more) / 10_000) {
                                        console.printf("%,d of %,d forms, %d s%n", sum, count, seconds(start));
                                        console.flush();
                                    }
                                });
                                return comparison;
                            }
                        },
                        command -> new Thread(command, "readers-" + worker).start()))
                .toList();
        Readers all = comparisons.get(0).join();
        comparisons.stream().skip(1).forEach(later -> all.add(later.join()));
        Readers.Report report = all.report(Provenance.of("--readers --bodies " + count + " --seed " + seed, start));
        Page.write(results.resolve(Page.READERS), report);
        report.peers().forEach(console::println);
        return explained(report.disagreements(), console);
    }

    private static boolean explained(List<BodiesReport.Disagreement> disagreements, PrintWriter console) {
        List<BodiesReport.Disagreement> unexplained = BodiesReport.unexplained(disagreements);
        unexplained.forEach(each -> console.println("not explained: " + each.signature() + ", in " + each.bodies
                + " bodies:\n  " + each.contentType + "\n  " + each.body + "\n  Sluice " + each.sluice + "\n  theirs "
                + each.other));
        console.printf("%d kinds of disagreement, %d not explained%n", disagreements.size(), unexplained.size());
        return unexplained.isEmpty();
    }

    /** {@return whether Sluice reads every split as the whole} */
    private boolean splits(Path results) throws IOException {
        PrintWriter console = spec.commandLine().getOut();
        Instant start = Instant.now();
        int most = quick ? QUICK_LARGEST : largest;
        Splits comparison = new Splits(most);
        comparison.compare(id -> {
            console.printf("%4d s  %s%n", seconds(start), id);
            console.flush();
        });
        String command = "--splits" + (most == Integer.MAX_VALUE ? "" : " --largest " + most);
        Splits.Report report = comparison.report(Provenance.of(command, start));
        Page.write(results.resolve(Page.SPLITS), report);
        for (Splits.Report.Row row : report.readers()) {
            console.printf(
                    "%-18s %,9d splits, %,6d wrong in %d bodies%n", row.reader, row.splits, row.wrong, row.wrongBodies);
        }
        return report.readers().stream()
                .filter(row -> row.reader.startsWith("Sluice"))
                .allMatch(row -> row.wrong == 0);
    }

    private static long seconds(Instant start) {
        return Duration.between(start, Instant.now()).toSeconds();
    }
}
