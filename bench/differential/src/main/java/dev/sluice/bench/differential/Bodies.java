package dev.sluice.bench.differential;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.bench.differential.BodiesReport.Agreement;
import dev.sluice.bench.differential.BodiesReport.Disagreement;
import dev.sluice.bench.differential.BodiesReport.Origin;
import dev.sluice.bench.differential.BodiesReport.Tolerated;
import dev.sluice.testkit.ReferenceParser;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/** Compares readings of generated bodies. One thread. */
final class Bodies {
    private final long seed;
    private final Samples samples;
    private final Map<Sample.Origin, Origin> origins = new TreeMap<>();
    private final Map<Contender, Agreement> peers = agreements();
    private final Map<Signature, Disagreement> disagreements = new HashMap<>();
    private final Map<String, Map<Contender, Agreement>> tolerated = new TreeMap<>();

    Bodies(long seed) {
        this.seed = seed;
        this.samples = new Samples(seed);
        for (Sample.Origin origin : EnumSet.complementOf(EnumSet.of(Sample.Origin.CLIENT))) {
            origins.put(origin, new Origin(origin));
        }
    }

    private static Map<Contender, Agreement> agreements() {
        Map<Contender, Agreement> agreements = new TreeMap<>();
        Contender.here().forEach(contender -> agreements.put(contender, new Agreement(contender)));
        return agreements;
    }

    /**
     * Compares.
     *
     * @param first which of the bodies, 0 for the first of the corpus
     * @param bodies how many
     * @param progress told how many are done, after each
     */
    void compare(long first, long bodies, LongConsumer progress) {
        for (long done = 0; done < bodies; ) {
            compare(samples.get(first + done++));
            progress.accept(done);
        }
    }

    private void compare(Sample sample) {
        Reading standard = Sluice.STANDARD.read(sample);
        Reading strict = Sluice.STRICT.read(sample);
        if (strict.accepts() && !strict.sameOutcome(standard)) {
            throw new IllegalStateException("STANDARD reads otherwise what STRICT accepts: " + sample.escaped());
        }
        Origin origin = origins.get(sample.origin());
        origin.bodies++;
        origin.standard += standard.accepts() ? 1 : 0;
        origin.strict += strict.accepts() ? 1 : 0;
        Boundary boundary = boundary(sample.contentType());
        if (standard.accepts() && boundary.isFormData()) {
            if (strict.accepts()) {
                comparePeers(sample, boundary.value(), strict);
            } else {
                tolerate(sample, boundary, standard);
            }
        }
    }

    /** For an accepted body there is one; for others it is not looked at. */
    private static Boundary boundary(String contentType) {
        try {
            return Sluice.STANDARD.boundary(contentType);
        } catch (MultipartException e) {
            return Boundary.of("none");
        }
    }

    private void comparePeers(Sample sample, String boundary, Reading strict) {
        Diagnosis diagnosis = null;
        for (Map.Entry<Contender, Agreement> peer : peers.entrySet()) {
            Contender contender = peer.getKey();
            Reading other = contender.read(sample.whole(boundary));
            Difference difference = peer.getValue().add(strict, other);
            if (difference != null) {
                diagnosis = diagnosis == null ? new Diagnosis(sample, boundary) : diagnosis;
                for (Signature signature : diagnosis.causes(contender, contender::read, difference)) {
                    disagreements.computeIfAbsent(signature, Disagreement::of).add(sample, strict, other);
                }
            }
        }
    }

    private void tolerate(Sample sample, Boundary boundary, Reading standard) {
        Set<String> deviations =
                ReferenceParser.parse(sample.contentType(), sample.bytes(), "STANDARD").deviations().stream()
                        .map(deviation -> deviation.kind())
                        .collect(Collectors.toSet());
        if (deviations.size() == 1) {
            tolerated
                    .computeIfAbsent(deviations.iterator().next(), kind -> agreements())
                    .forEach((contender, counts) ->
                            counts.add(standard, contender.read(sample.whole(boundary.value()))));
        }
    }

    /** {@return what was found so far} */
    BodiesReport report(Provenance provenance) {
        List<Disagreement> found = disagreements.values().stream()
                .sorted(Comparator.comparing((Disagreement each) -> each.peer.id())
                        .thenComparing(each -> each.feature.name())
                        .thenComparing(each -> each.difference.name()))
                .toList();
        List<Tolerated> deviations = tolerated.entrySet().stream()
                .map(each -> Tolerated.of(each.getKey(), each.getValue().values()))
                .toList();
        return new BodiesReport(provenance, seed, origins.values(), peers.values(), found, deviations);
    }
}
