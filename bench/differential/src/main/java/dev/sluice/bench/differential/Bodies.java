package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.Boundary;
import dev.sluice.bench.differential.Findings.Agreement;
import dev.sluice.bench.differential.Findings.Disagreement;
import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.ReferenceParser;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** The comparison of all Java parsers on the corpus and on generated bodies. Not thread-safe. */
final class Bodies {
    private final long seed;
    private final Samples samples;
    private final Map<Sample.Origin, Report.Origin> origins = new TreeMap<>();
    private final Findings findings = new Findings(Contender.javaParsers());
    private final Map<String, Map<Contender, Agreement>> tolerated = new TreeMap<>();

    /**
     * The results of a comparison.
     *
     * @param tolerated the bodies with a single deviation that STANDARD accepts and STRICT rejects, by deviation
     */
    record Report(
            @JsonUnwrapped Provenance provenance,
            long seed,
            Collection<Origin> origins,
            Collection<Agreement> peers,
            List<Disagreement> disagreements,
            Collection<Tolerated> tolerated) {
        /** The number of bodies of one origin, and how many of them each preset accepts. */
        static final class Origin {
            public final Sample.Origin origin;
            public long bodies;
            public long standard;
            public long strict;

            @JsonCreator
            Origin(@JsonProperty("origin") Sample.Origin origin) {
                this.origin = origin;
            }
        }

        /** The bodies with one kind of deviation. */
        record Tolerated(String deviation, long bodies, Collection<Agreement> peers) {
            static Tolerated of(String deviation, Collection<Agreement> peers) {
                Agreement any = peers.iterator().next();
                return new Tolerated(deviation, any.agrees + any.differs + any.refuses, peers);
            }
        }

        long sum(ToLongFunction<Origin> count) {
            return origins.stream().mapToLong(count).sum();
        }
    }

    Bodies(long seed) {
        this.seed = seed;
        this.samples = new Samples(seed);
        for (Sample.Origin origin : EnumSet.complementOf(EnumSet.of(Sample.Origin.CLIENT))) {
            origins.put(origin, new Report.Origin(origin));
        }
    }

    /**
     * Compares a range of bodies.
     *
     * @param first the index of the first body, 0 for the first of the corpus
     * @param bodies the number of bodies
     * @param progress receives the number of compared bodies after each body
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
            throw new IllegalStateException(
                    "STANDARD and STRICT accept this body but read it differently: " + sample.escaped());
        }
        Report.Origin origin = origins.get(sample.origin());
        origin.bodies++;
        origin.standard += standard.accepts() ? 1 : 0;
        origin.strict += strict.accepts() ? 1 : 0;
        Sluice.STANDARD
                .boundary(sample.contentType())
                .filter(boundary -> boundary.isFormData() && standard.accepts())
                .map(Boundary::value)
                .ifPresent(boundary -> {
                    if (strict.accepts()) {
                        Diagnosis diagnosis = new Diagnosis(sample, strict);
                        for (Contender peer : Contender.javaParsers()) {
                            findings.add(diagnosis, peer, peer::read, peer.read(sample.whole(boundary)));
                        }
                    } else {
                        tolerate(sample, boundary, standard);
                    }
                });
    }

    private void tolerate(Sample sample, String boundary, Reading standard) {
        Set<String> deviations =
                ReferenceParser.parse(sample.contentType(), sample.bytes(), "STANDARD").deviations().stream()
                        .map(deviation -> deviation.kind())
                        .collect(Collectors.toSet());
        if (deviations.size() == 1) {
            tolerated
                    .computeIfAbsent(deviations.iterator().next(), kind -> Agreement.of(Contender.javaParsers()))
                    .forEach((peer, counts) -> counts.add(standard, peer.read(sample.whole(boundary))));
        }
    }

    Report report(Provenance provenance) {
        List<Report.Tolerated> deviations = tolerated.entrySet().stream()
                .map(each -> Report.Tolerated.of(each.getKey(), each.getValue().values()))
                .toList();
        return new Report(provenance, seed, origins.values(), findings.peers(), findings.disagreements(), deviations);
    }
}
