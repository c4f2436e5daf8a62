package dev.sluice.bench.differential;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongConsumer;

/** Compares readings of generated bodies. One thread. */
final class Bodies {
    private static final class Counts {
        long agrees;
        long differs;
        long refuses;

        BodiesReport.Agreement of(Contender contender) {
            return new BodiesReport.Agreement(contender.id(), agrees, differs, refuses);
        }
    }

    private static final class Found {
        long bodies;
        Sample shortest;
        Reading sluice;
        Reading other;

        Found(Sample sample, Reading sluice, Reading other) {
            this.shortest = sample;
            this.sluice = sluice;
            this.other = other;
        }

        BodiesReport.Disagreement report(Signature signature) {
            return new BodiesReport.Disagreement(
                    signature.contender().id(),
                    signature.difference().name(),
                    signature.feature().name(),
                    bodies,
                    shortest.contentType(),
                    shortest.escaped(),
                    sluice.describe(),
                    other.describe());
        }

        void add(Sample sample, Reading itsSluice, Reading itsOther) {
            bodies++;
            if (sample.bytes().length < shortest.bytes().length) {
                shortest = sample;
                sluice = itsSluice;
                other = itsOther;
            }
        }
    }

    private static final class Deviating {
        long bodies;
        final Map<Contender, Counts> peers = counts();
    }

    private final long seed;
    private final Samples samples;
    private final Map<Sample.Origin, long[]> origins = new EnumMap<>(Sample.Origin.class);
    private final Map<Contender, Counts> peers = counts();
    private final Map<Signature, Found> disagreements = new LinkedHashMap<>();
    private final Map<String, Deviating> tolerated = new TreeMap<>();

    Bodies(long seed) {
        this.seed = seed;
        this.samples = new Samples(seed);
        for (Sample.Origin origin : Sample.Origin.values()) {
            origins.put(origin, new long[3]);
        }
    }

    private static Map<Contender, Counts> counts() {
        Map<Contender, Counts> counts = new EnumMap<>(Contender.class);
        Contender.here().forEach(contender -> counts.put(contender, new Counts()));
        return counts;
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
        long[] counts = origins.get(sample.origin());
        counts[0]++;
        Reading standard = Sluice.STANDARD.read(sample);
        Reading strict = Sluice.STRICT.read(sample);
        if (strict.accepts() && !strict.sameOutcome(standard)) {
            throw new IllegalStateException("STANDARD reads otherwise what STRICT accepts: " + sample.escaped());
        }
        counts[1] += standard.accepts() ? 1 : 0;
        counts[2] += strict.accepts() ? 1 : 0;
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
        for (Map.Entry<Contender, Counts> peer : peers.entrySet()) {
            Contender contender = peer.getKey();
            Reading other = contender.read(sample.whole(boundary));
            Difference difference =
                    count(contender, peer.getValue(), strict, other).orElse(null);
            if (difference != null) {
                diagnosis = diagnosis == null ? new Diagnosis(sample, boundary) : diagnosis;
                for (Signature signature : diagnosis.causes(contender, contender::read, difference)) {
                    disagreements
                            .computeIfAbsent(signature, s -> new Found(sample, strict, other))
                            .add(sample, strict, other);
                }
            }
        }
    }

    private static Optional<Difference> count(Contender contender, Counts counts, Reading sluice, Reading other) {
        if (!other.accepts()) {
            counts.refuses++;
            return Optional.empty();
        }
        Optional<Difference> difference = Difference.between(sluice, other, contender.tellsNames());
        counts.agrees += difference.isEmpty() ? 1 : 0;
        counts.differs += difference.isPresent() ? 1 : 0;
        return difference;
    }

    private void tolerate(Sample sample, Boundary boundary, Reading standard) {
        Outcome outcome = ReferenceParser.parse(sample.contentType(), sample.bytes(), "STANDARD");
        TreeSet<String> deviations = new TreeSet<>();
        outcome.deviations().forEach(deviation -> deviations.add(deviation.kind()));
        if (deviations.size() != 1) {
            return;
        }
        Deviating deviating = tolerated.computeIfAbsent(deviations.first(), kind -> new Deviating());
        deviating.bodies++;
        deviating.peers.forEach((contender, counts) ->
                count(contender, counts, standard, contender.read(sample.whole(boundary.value()))));
    }

    /** {@return what was found so far} */
    BodiesReport report(Provenance provenance) {
        List<BodiesReport.Origin> bodies = origins.entrySet().stream()
                .map(each -> new BodiesReport.Origin(
                        each.getKey().name(), each.getValue()[0], each.getValue()[1], each.getValue()[2]))
                .toList();
        List<BodiesReport.Disagreement> found = disagreements.entrySet().stream()
                .map(each -> each.getValue().report(each.getKey()))
                .sorted(Comparator.comparing(BodiesReport.Disagreement::peer)
                        .thenComparing(BodiesReport.Disagreement::feature)
                        .thenComparing(BodiesReport.Disagreement::difference))
                .toList();
        List<BodiesReport.Tolerated> deviations = tolerated.entrySet().stream()
                .map(each -> new BodiesReport.Tolerated(
                        each.getKey(), each.getValue().bodies, agreements(each.getValue().peers)))
                .toList();
        return new BodiesReport(provenance, seed, bodies, agreements(peers), found, deviations);
    }

    private static List<BodiesReport.Agreement> agreements(Map<Contender, Counts> peers) {
        return peers.entrySet().stream()
                .map(each -> each.getValue().of(each.getKey()))
                .toList();
    }
}
