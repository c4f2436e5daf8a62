package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.bench.differential.Findings.Agreement;
import dev.sluice.bench.differential.Findings.Disagreement;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Provenance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/** The comparison with readers in other languages on forms that STRICT accepts. Each reader is a process. Not thread-safe. */
final class Readers implements AutoCloseable {
    private static final int BATCH = 200;

    private final long seed;
    private final Samples samples;
    private final Map<Contender, ReaderProcess> processes = new EnumMap<>(Contender.class);
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
            List<Disagreement> disagreements) {}

    Readers(Path folder, long seed) {
        this.seed = seed;
        this.samples = new Samples(seed);
        for (Contender contender : Contender.foreign()) {
            processes.put(contender, new ReaderProcess(folder, contender));
        }
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

    /** Adds the findings about other forms. */
    void add(Readers others) {
        others.origins.forEach((origin, count) -> origins.merge(origin, count, Long::sum));
        findings.add(others.findings);
    }

    private void compare(List<Sample> batch) {
        try {
            for (ReaderProcess process : processes.values()) {
                for (Sample sample : batch) {
                    process.add(sample.whole(""));
                }
                process.send();
            }
            List<Diagnosis> diagnoses = batch.stream()
                    .map(sample -> new Diagnosis(sample, Sluice.STRICT.read(sample)))
                    .toList();
            batch.forEach(sample -> origins.merge(sample.origin(), 1L, Long::sum));
            for (Map.Entry<Contender, ReaderProcess> peer : processes.entrySet()) {
                List<Reading> readings = peer.getValue().answers();
                for (int i = 0; i < readings.size(); i++) {
                    findings.add(diagnoses.get(i), peer.getKey(), peer.getValue()::read, readings.get(i));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns one reader's reading of a form. */
    Reading read(Contender contender, Body body) {
        return processes.get(contender).read(body);
    }

    Report report(Provenance provenance) {
        Map<String, String> versions = new TreeMap<>();
        processes.forEach((contender, process) -> versions.put(contender.id(), process.version));
        return new Report(provenance, seed, origins, versions, findings.peers(), findings.disagreements());
    }

    @Override
    public void close() {
        processes.values().forEach(ReaderProcess::close);
    }
}
