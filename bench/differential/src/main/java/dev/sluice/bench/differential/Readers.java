package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.Preset;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.differential.BodiesReport.Agreement;
import dev.sluice.bench.differential.BodiesReport.Disagreement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/** Compares what STRICT accepts with what readers read that are not Java, each in a process of its own. One thread. */
final class Readers implements AutoCloseable {
    private static final int BATCH = 200;

    private final long seed;
    private final Accepted forms;
    private final Map<Contender, ReaderProcess> processes = new EnumMap<>(Contender.class);
    private final Map<Contender, Agreement> peers = new TreeMap<>();
    private final Map<Sample.Origin, Long> origins = new TreeMap<>();
    private final Map<Signature, Disagreement> disagreements = new HashMap<>();

    /**
     * What a comparison found; of all forms, which STRICT accepts, how many came from where.
     *
     * @param readers versions, by the readers' names in results
     */
    record Report(
            @JsonUnwrapped Provenance provenance,
            long seed,
            Map<Sample.Origin, Long> forms,
            Map<String, String> readers,
            Collection<Agreement> peers,
            List<Disagreement> disagreements) {}

    /** Starts all of them. */
    Readers(Path folder, long seed) {
        this.seed = seed;
        this.forms = new Accepted(seed);
        for (Contender contender : Contender.foreign()) {
            processes.put(contender, new ReaderProcess(folder, contender));
            peers.put(contender, new Agreement(contender));
        }
    }

    /**
     * Compares.
     *
     * @param first which of the forms
     * @param count how many
     * @param progress told how many more are done, after each batch
     */
    void compare(long first, long count, LongConsumer progress) {
        for (long done = 0; done < count; ) {
            List<Sample> samples = new ArrayList<>();
            for (; done < count && samples.size() < BATCH; done++) {
                samples.add(forms.get(first + done));
            }
            compare(samples);
            progress.accept(samples.size());
        }
    }

    /** Adds what another one found in forms that come after those of this one. */
    void add(Readers later) {
        later.origins.forEach((origin, count) -> origins.merge(origin, count, Long::sum));
        peers.forEach((contender, counts) -> counts.add(later.peers.get(contender)));
        later.disagreements.forEach((signature, found) ->
                disagreements.computeIfAbsent(signature, Disagreement::of).add(found));
    }

    private void compare(List<Sample> samples) {
        for (ReaderProcess process : processes.values()) {
            samples.forEach(sample -> process.add(sample.whole("")));
            process.send();
        }
        List<Reading> strict = samples.stream().map(Sluice.STRICT::read).toList();
        Map<Integer, Diagnosis> diagnoses = new HashMap<>();
        samples.forEach(sample -> origins.merge(sample.origin(), 1L, Long::sum));
        processes.forEach((contender, process) -> {
            List<Reading> readings = process.answers();
            for (int i = 0; i < readings.size(); i++) {
                Sample sample = samples.get(i);
                Difference difference = peers.get(contender).add(strict.get(i), readings.get(i));
                if (difference != null) {
                    Diagnosis diagnosis = diagnoses.computeIfAbsent(i, at -> new Diagnosis(sample, boundary(sample)));
                    for (Signature signature : diagnosis.causes(contender, process::read, difference)) {
                        disagreements
                                .computeIfAbsent(signature, Disagreement::of)
                                .add(sample, strict.get(i), readings.get(i));
                    }
                }
            }
        });
    }

    private static String boundary(Sample sample) {
        try {
            return Boundary.from(sample.contentType(), Preset.STRICT).value();
        } catch (MultipartException e) {
            throw new IllegalStateException(e);
        }
    }

    /** {@return what one of them reads in a single form} */
    Reading read(Contender contender, Body body) {
        return processes.get(contender).read(body);
    }

    /** {@return what was found so far} */
    Report report(Provenance provenance) {
        Map<String, String> versions = new TreeMap<>();
        processes.forEach((contender, process) -> versions.put(contender.id(), process.version));
        List<Disagreement> found = disagreements.values().stream()
                .sorted(Comparator.comparing((Disagreement each) -> each.peer)
                        .thenComparing(each -> each.feature)
                        .thenComparing(each -> each.difference))
                .toList();
        return new Report(provenance, seed, origins, versions, peers.values(), found);
    }

    @Override
    public void close() {
        processes.values().forEach(ReaderProcess::close);
    }
}
