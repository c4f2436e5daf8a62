package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.bench.differential.Findings.Agreement;
import dev.sluice.bench.differential.Findings.Disagreement;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Provenance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongConsumer;

/** The comparison with readers in other languages on forms that STRICT accepts. Each reader is a process. Not thread-safe. */
final class Readers implements AutoCloseable {
    /** The number of forms in one batch for a reader. */
    static final int BATCH = 200;

    private final long seed;
    private final Samples samples;
    private final Map<Contender, ReaderProcess> processes;
    /** One thread per reader. A thread mostly waits for its reader. */
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private final Findings findings = new Findings(Contender.foreign());
    private final Map<Sample.Origin, Long> origins = new TreeMap<>();

    /**
     * The results of a comparison.
     *
     * @param forms the number of forms by origin
     * @param readers the versions of the readers by id
     */
    record Report(
            @JsonUnwrapped Provenance provenance,
            long seed,
            Map<Sample.Origin, Long> forms,
            Map<String, String> readers,
            Collection<Agreement> peers,
            List<Disagreement> disagreements) {
        /**
         * Returns the combined results of this comparison and a later one with another seed. The environment is taken from the later
         * comparison, except for the commands, which are joined, and the times, which are added.
         */
        Report and(Report other) {
            Map<Sample.Origin, Long> allForms = new TreeMap<>(forms);
            other.forms.forEach((origin, count) -> allForms.merge(origin, count, Long::sum));
            Findings all = new Findings(peers, disagreements);
            all.add(new Findings(other.peers, other.disagreements));
            Provenance both = new Provenance(
                    provenance.command() + "` and `" + other.provenance.command(),
                    other.provenance.date(),
                    other.provenance.machine(),
                    other.provenance.jvm(),
                    other.provenance.versions(),
                    provenance.seconds() + other.provenance.seconds());
            return new Report(both, seed, allForms, other.readers, all.peers(), all.disagreements());
        }
    }

    Readers(Map<Contender, ReaderProcess> processes, long seed) {
        this.processes = processes;
        this.seed = seed;
        this.samples = new Samples(seed);
    }

    /**
     * Compares a range of forms.
     *
     * @param first the index of the first form
     * @param count the number of forms
     * @param progress receives the number of forms of each batch
     */
    void compare(long first, long count, LongConsumer progress) {
        for (long done = 0; done < count; ) {
            List<Sample> batch = new ArrayList<>();
            for (; done < count && batch.size() < BATCH; done++) {
                batch.add(samples.accepted(first + done));
            }
            compare(batch);
            progress.accept(batch.size());
        }
    }

    /** Adds the findings of a comparison on other forms. */
    void add(Readers others) {
        others.origins.forEach((origin, count) -> origins.merge(origin, count, Long::sum));
        findings.add(others.findings);
    }

    private void compare(List<Sample> batch) {
        List<Diagnosis> diagnoses = batch.stream()
                .map(sample -> new Diagnosis(sample, Sluice.STRICT.read(sample)))
                .toList();
        batch.forEach(sample -> origins.merge(sample.origin(), 1L, Long::sum));
        processes.keySet().stream()
                .map(peer -> CompletableFuture.runAsync(() -> compare(diagnoses, peer), threads))
                .toList()
                .forEach(CompletableFuture::join);
    }

    private void compare(List<Diagnosis> diagnoses, Contender peer) {
        try {
            ReaderProcess process = processes.get(peer);
            List<Reading> received = process.read(
                    diagnoses.stream().map(each -> each.sample.whole("")).toList());
            process.readAhead(firstExperiments(peer, diagnoses, received));
            for (int i = 0; i < received.size(); i++) {
                findings.add(diagnoses.get(i), peer, process::read, received.get(i));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Body> firstExperiments(Contender contender, List<Diagnosis> diagnoses, List<Reading> received) {
        List<Body> bodies = new ArrayList<>();
        for (int i = 0; i < received.size(); i++) {
            if (received.get(i).accepts()) {
                Diagnosis diagnosis = diagnoses.get(i);
                contender
                        .difference(diagnosis.strict, received.get(i))
                        .ifPresent(found -> bodies.addAll(diagnosis.firstExperiments(contender, found)));
            }
        }
        return bodies;
    }

    Report report(Provenance provenance) throws IOException {
        Map<String, String> versions = new TreeMap<>();
        for (Map.Entry<Contender, ReaderProcess> each : processes.entrySet()) {
            versions.put(each.getKey().id(), each.getValue().version());
        }
        return new Report(provenance, seed, origins, versions, findings.peers(), findings.disagreements());
    }

    @Override
    public void close() {
        threads.shutdown();
        processes.values().forEach(ReaderProcess::close);
    }
}
