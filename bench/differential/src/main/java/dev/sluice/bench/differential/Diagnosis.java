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
 * Finds out why parsers read a body otherwise than Sluice, by experiment: features of the body are taken away until both
 * agree, and put back where they agree nevertheless. One thread.
 */
final class Diagnosis {
    /** The body without something, and what Sluice reads in it. */
    private record Experiment(Sample sample, Reading sluice) {
        /** {@return nothing where Sluice refuses it} */
        Optional<Body> body() {
            return Sluice.STRICT
                    .boundary(sample.contentType())
                    .filter(boundary -> sluice.accepts())
                    .map(boundary -> sample.whole(boundary.value()));
        }
    }

    final Sample sample;
    final Reading strict;
    private final Map<Set<Feature>, Experiment> experiments = new HashMap<>();
    private final Set<Feature> present = new TreeSet<>();
    /** Of the body; none before it is needed. */
    private @Nullable Supplier<Anatomy> anatomy;

    /** Of a body that STRICT accepts. */
    Diagnosis(Sample sample, Reading strict) {
        this.sample = sample;
        this.strict = strict;
    }

    private void takeApart() {
        Outcome outcome = ReferenceParser.parse(sample.contentType(), sample.bytes(), "STRICT");
        if (!outcome.isAccepted()) {
            throw new IllegalStateException("STRICT accepts what the reference parser refuses: " + sample.escaped());
        }
        String boundary =
                Sluice.STRICT.boundary(sample.contentType()).orElseThrow().value();
        anatomy = () -> new Anatomy(sample, boundary, outcome);
        if (!sample.isSame(without(Set.of()))) {
            throw new IllegalStateException("taken apart wrongly: " + sample.escaped());
        }
        for (Feature feature : Feature.all()) {
            if (!sample.isSame(without(Set.of(feature)))) {
                present.add(feature);
            }
        }
    }

    /** {@return a signature for each cause that is needed for the whole disagreement, of which this difference is the first} */
    List<Signature> causes(Contender contender, Function<Body, Reading> reader, Difference difference) {
        if (anatomy == null) {
            takeApart();
        }
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
            // What makes the other one refuse the body where it stands alone is no cause of a silent disagreement.
            other(reader, others)
                    .flatMap(other -> difference(contender, other, others))
                    .ifPresent(alone -> causes.add(new Signature(contender, alone, feature)));
        }
        if (causes.isEmpty()) {
            needed.forEach(feature -> causes.add(new Signature(contender, difference, feature)));
        }
        return List.copyOf(causes);
    }

    /** The general ones are given back first. What is not needed may show only after others were given back. */
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
        // In the order of their declaration, which a copy of the set need not have.
        new TreeSet<>(features).forEach(feature -> feature.removeFrom(changed));
        return changed.toSample(sample.origin());
    }

    private boolean agree(Contender contender, Function<Body, Reading> reader, Set<Feature> without) {
        return other(reader, without)
                .filter(other -> difference(contender, other, without).isEmpty())
                .isPresent();
    }

    /** {@return what the other one reads in what is left; nothing where one of both refuses it} */
    private Optional<Reading> other(Function<Body, Reading> reader, Set<Feature> without) {
        return experiment(without).body().map(reader).filter(Reading::accepts);
    }

    private Optional<Difference> difference(Contender contender, Reading other, Set<Feature> without) {
        return contender.difference(experiment(without).sluice, other);
    }

    private Experiment experiment(Set<Feature> without) {
        return experiments.computeIfAbsent(Set.copyOf(without), features -> {
            Sample left = without(features);
            return new Experiment(left, Sluice.STRICT.read(left));
        });
    }
}
