package dev.sluice.bench.differential;

import dev.sluice.bench.differential.Findings.Agreement;
import dev.sluice.bench.differential.Findings.Disagreement;
import dev.sluice.bench.peer.Provenance;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code java -jar sluice-differential.jar}, which reads the same bodies with Sluice and with every other parser. */
@Command(
        name = "sluice-differential",
        resourceBundle = "dev.sluice.bench.differential.Main",
        mixinStandardHelpOptions = true)
public final class Main implements Callable<Integer> {
    private static final long SEED = 20_261_120;
    private static final long QUICK_BODIES = 2_000;
    private static final int QUICK_LARGEST = 256;

    private final PrintWriter console = new PrintWriter(System.out, true);

    /** The number of bodies that have been compared. */
    private final AtomicLong done = new AtomicLong();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--splits")
    private boolean splits;

    @Option(names = "--readers")
    private boolean readers;

    @Option(names = "--suite")
    private boolean suite;

    @Option(names = "--written")
    private boolean written;

    @Option(names = "--seed", paramLabel = "N")
    private long seed = SEED;

    @Option(names = "--add", paramLabel = "FILE")
    private @Nullable Path add;

    @Option(names = "--page-only")
    private boolean pageOnly;

    @Option(names = "--bodies", paramLabel = "N")
    private long bodies = 1_000_000;

    @Option(names = "--largest", paramLabel = "N")
    private int largest = Integer.MAX_VALUE;

    @Option(names = "--quick")
    private boolean quick;

    private Main() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        // Some parsers log each body they reject.
        LogManager.getLogManager().reset();
        Logger.getLogger("").setLevel(Level.OFF);
        if (quick) {
            bodies = QUICK_BODIES;
            largest = QUICK_LARGEST;
        }
        if (suite) {
            Map<Contender, ReaderProcess> processes = ReaderProcess.all(folder());
            Files.writeString(Path.of("parser/testkit/suite/MATRIX.md"), Matrix.page(processes, 1));
            processes.values().forEach(ReaderProcess::close);
            return 0;
        }
        Path results = Path.of("bench", quick ? "differential/target" : "results/differential");
        Path page = quick ? results.resolve("differential.md") : Path.of("parser/docs/differential.md");
        boolean fine = pageOnly
                || (splits
                        ? splits(results)
                        : readers ? readers(results) : written ? written(results) : bodies(results));
        if (add != null) {
            Readers.Report recorded = Page.read(results.resolve(Page.READERS), Readers.Report.class);
            Page.write(results.resolve(Page.READERS), recorded.and(Page.read(add, Readers.Report.class)));
        }
        Files.writeString(page, Page.text(results));
        return fine ? 0 : 1;
    }

    /** Compares Java parsers. Returns whether every disagreement has an explanation. */
    private boolean bodies(Path results) throws IOException {
        Bodies comparison = new Bodies(SEED);
        comparison.compare(0, bodies, this::progress);
        Bodies.Report report = comparison.report(provenance("--bodies " + bodies));
        Page.write(results.resolve(Page.BODIES), report);
        console.printf(
                "%,d bodies, STRICT accepts %,d%n", report.sum(each -> each.bodies), report.sum(each -> each.strict));
        return explained(report.peers(), report.disagreements());
    }

    /** Compares readers in other languages. Returns whether every disagreement has an explanation. */
    private boolean readers(Path results) throws IOException {
        Path folder = folder();
        Readers all = compare(
                "readers",
                () -> new Readers(ReaderProcess.all(folder), seed),
                Readers::compare,
                Readers::add,
                Readers.BATCH);
        Readers.Report report = all.report(provenance("--readers --bodies " + done + " --seed " + seed));
        Page.write(results.resolve(Page.READERS), report);
        return explained(report.peers(), report.disagreements());
    }

    /** A step of a comparison with readers in other processes. */
    private interface Step<C> {
        void compare(C comparison, long first, long count, LongConsumer progress);
    }

    /**
     * Compares all bodies in several threads. Each thread has its own comparison. Returns the comparison of the first thread, after adding
     * all others to it.
     */
    private <C extends AutoCloseable> C compare(
            String name, Supplier<C> start, Step<C> step, BiConsumer<C, C> add, int batch) {
        AtomicLong next = new AtomicLong();
        int workers = 2 * Runtime.getRuntime().availableProcessors(); // about half of them wait for readers
        List<C> comparisons = IntStream.range(0, workers)
                .mapToObj(worker -> CompletableFuture.supplyAsync(
                        () -> {
                            C comparison = start.get();
                            try (comparison) {
                                for (long first; (first = next.getAndAdd(batch)) < bodies; ) {
                                    step.compare(
                                            comparison,
                                            first,
                                            Math.min(batch, bodies - first),
                                            more -> progress(done.addAndGet(more)));
                                }
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                            return comparison;
                        },
                        command -> new Thread(command, name + "-" + worker).start()))
                .toList()
                .stream()
                .map(CompletableFuture::join)
                .toList();
        comparisons.stream().skip(1).forEach(other -> add.accept(comparisons.get(0), other));
        return comparisons.get(0);
    }

    private Path folder() {
        Path folder = ReaderProcess.folder();
        if (folder == null) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "SLUICE_READERS must name a folder created by .ci/readers");
        }
        return folder;
    }

    /** Compares all readers on forms that Sluice has written. Returns whether no reader found other parts. */
    private boolean written(Path results) throws IOException {
        Path folder = folder();
        Written all = compare(
                "written",
                () -> new Written(ReaderProcess.all(folder), seed),
                Written::compare,
                Written::add,
                Written.STEP);
        Written.Report report = all.report(provenance("--written --bodies " + done + " --seed " + seed));
        Page.write(results.resolve(Page.WRITTEN), report);
        report.readers()
                .forEach(row -> console.printf(
                        "%s: %,d same, %,d differ, %,d rejected %s%n",
                        row.reader.id(), row.same, row.differs, row.rejects, row.examples));
        console.printf(
                "%,d encoded, %,d relayed, refused: %s%n", report.encoded(), report.relayed(), report.refusals());
        return report.readers().stream().allMatch(row -> row.differs == 0);
    }

    private static Provenance provenance(String options) {
        return Provenance.now("java -jar sluice-differential.jar " + options, Map.of());
    }

    private void progress(long done) {
        if (done % 10_000 == 0) {
            console.printf("%,d of %,d bodies, %.0f s%n", done, bodies, Provenance.uptime());
        }
    }

    private boolean explained(Collection<Agreement> peers, List<Disagreement> disagreements) {
        peers.forEach(console::println);
        List<Disagreement> unexplained = Explanation.unexplained(disagreements);
        unexplained.forEach(each -> console.printf(
                "not explained: %s, in %d bodies:%n  %s%n  %s%n  Sluice %s%n  theirs %s%n",
                each.signature(), each.bodies(), each.contentType(), each.body(), each.sluice(), each.other()));
        console.printf("%d kinds of disagreement, %d not explained%n", disagreements.size(), unexplained.size());
        return unexplained.isEmpty();
    }

    /** Compares split bodies. Returns whether Sluice reads every split like the whole body. */
    private boolean splits(Path results) throws IOException {
        Splits comparison = new Splits(largest);
        comparison.compare(id -> console.printf("%4.0f s  %s%n", Provenance.uptime(), id));
        String command = "--splits" + (largest == Integer.MAX_VALUE ? "" : " --largest " + largest);
        Splits.Report report = comparison.report(provenance(command));
        Page.write(results.resolve(Page.SPLITS), report);
        report.readers()
                .forEach(row -> console.printf(
                        "%-18s %,9d splits, %,6d wrong in %d bodies%n",
                        row.reader, row.splits, row.wrong, row.wrongBodies));
        return report.readers().stream()
                .filter(row -> row.reader.startsWith("Sluice"))
                .allMatch(row -> row.wrong == 0);
    }
}
