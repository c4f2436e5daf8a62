package dev.sluice.bench.differential;

import dev.sluice.bench.differential.Findings.Signature;
import dev.sluice.bench.peer.Body;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The search for the causes of a disagreement, by experiment. Features are removed from the body until the parser and
 * Sluice agree. A feature is restored if they also agree on the body that contains it. The features that remain removed
 * are the causes. Several threads can use it, each for another parser.
 */
final class Diagnosis {
    /**
     * The body without some features.
     *
     * @param sluice Sluice's reading of this body
     * @param body this body, or empty if Sluice rejects it
     */
    private record Experiment(Reading sluice, Optional<Body> body) {
        static Experiment of(Sample sample) {
            Reading sluice = Sluice.STRICT.read(sample);
            Optional<Body> body = Sluice.STRICT
                    .boundary(sample.contentType())
                    .filter(boundary -> sluice.accepts())
                    .map(boundary -> sample.whole(boundary.value()));
            return new Experiment(sluice, body);
        }
    }

    final Sample sample;
    final Reading strict;
    private final Map<Set<Feature>, Experiment> experiments = new HashMap<>();
    private final Set<Feature> present = new TreeSet<>();
    /** A source of copies of the body that can be changed; null until it is needed. */
    private @Nullable Supplier<Anatomy> anatomy;

    /** @param strict the reading of STRICT, which must accept the body */
    Diagnosis(Sample sample, Reading strict) {
        this.sample = sample;
        this.strict = strict;
    }

    private synchronized void findFeatures() {
        if (anatomy != null) {
            return;
        }
        Outcome outcome = ReferenceParser.parse(sample.contentType(), sample.bytes(), "STRICT");
        if (!outcome.isAccepted()) {
            throw new IllegalStateException(
                    "STRICT accepts a body that the reference parser rejects: " + sample.escaped());
        }
        String boundary =
                Sluice.STRICT.boundary(sample.contentType()).orElseThrow().value();
        anatomy = () -> new Anatomy(sample, boundary, outcome);
        if (!sample.isSame(without(Set.of()))) {
            throw new IllegalStateException("The body cannot be reassembled from its parts: " + sample.escaped());
        }
        for (Feature feature : Feature.all()) {
            if (!sample.isSame(without(Set.of(feature)))) {
                present.add(feature);
            }
        }
    }

    /**
     * Returns the bodies that {@link #causes} reads first, up to the first one whose missing feature would explain the
     * difference. The caller can read all of them in one round trip. {@code causes} reads the same instances.
     */
    List<Body> firstExperiments(Contender contender, Difference difference) {
        findFeatures();
        List<Body> bodies = new ArrayList<>();
        for (Feature feature : present) {
            if (!feature.general) {
                experiment(Set.of(feature)).body.ifPresent(bodies::add);
                if (Explanation.of(new Signature(contender, difference, feature))
                        .isPresent()) {
                    break;
                }
            }
        }
        return bodies;
    }

    /** Returns a signature for each cause of the disagreement. {@code difference} is the first difference. */
    List<Signature> causes(Contender contender, Function<Body, Reading> reader, Difference difference) {
        findFeatures();
        for (Feature feature : present) {
            if (!feature.general && agree(contender, reader, Set.of(feature))) {
                return List.of(new Signature(contender, difference, feature));
            }
        }
        Set<Feature> needed = new TreeSet<>(present);
        needed.removeIf(feature -> feature.general);
        if (!agree(contender, reader, needed)) {
            needed = new TreeSet<>(present);
            if (!agree(contender, reader, needed)) {
                return List.of(new Signature(contender, difference, Feature.UNKNOWN));
            }
        }
        minimise(contender, reader, needed);
        Set<Signature> causes = new LinkedHashSet<>();
        for (Feature feature : needed) {
            Set<Feature> others = new TreeSet<>(needed);
            others.remove(feature);
            // If the other parser rejects the body because of this feature, the feature is not a cause.
            other(reader, others)
                    .flatMap(other -> difference(contender, other, others))
                    .ifPresent(alone -> causes.add(new Signature(contender, alone, feature)));
        }
        if (causes.isEmpty()) {
            needed.forEach(feature -> causes.add(new Signature(contender, difference, feature)));
        }
        return List.copyOf(causes);
    }

    /**
     * Restores features that need not be removed, general ones first. This is repeated, because each restored feature
     * can change the others.
     */
    private void minimise(Contender contender, Function<Body, Reading> reader, Set<Feature> needed) {
        boolean smaller = true;
        while (smaller) {
            smaller = false;
            List<Feature> rest = new ArrayList<>(needed);
            Collections.reverse(rest);
            for (Feature feature : rest) {
                needed.remove(feature);
                if (agree(contender, reader, needed)) {
                    smaller = true;
                } else {
                    needed.add(feature);
                }
            }
        }
    }

    private Sample without(Set<Feature> features) {
        Anatomy changed = anatomy.get();
        // Features are removed in the order of their declaration.
        new TreeSet<>(features).forEach(feature -> feature.removeFrom(changed));
        return changed.toSample(sample.origin());
    }

    private boolean agree(Contender contender, Function<Body, Reading> reader, Set<Feature> without) {
        return other(reader, without)
                .filter(other -> difference(contender, other, without).isEmpty())
                .isPresent();
    }

    /** Returns the other parser's reading of the remaining body, or empty if it or Sluice rejects the body. */
    private Optional<Reading> other(Function<Body, Reading> reader, Set<Feature> without) {
        return experiment(without).body.map(reader).filter(Reading::accepts);
    }

    private Optional<Difference> difference(Contender contender, Reading other, Set<Feature> without) {
        return contender.difference(experiment(without).sluice, other);
    }

    private synchronized Experiment experiment(Set<Feature> without) {
        return experiments.computeIfAbsent(Set.copyOf(without), features -> Experiment.of(without(features)));
    }
}
