package dev.sluice.bench.differential;

import dev.sluice.MultipartException;
import dev.sluice.bench.body.Body;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
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
    /** The body without something, and what Sluice reads in it; null where it refuses it. */
    private record Experiment(Sample sample, @Nullable String boundary, Reading sluice) {
        static Experiment of(Sample sample) {
            Reading sluice = Sluice.STRICT.read(sample);
            try {
                String boundary = Sluice.STRICT.boundary(sample.contentType()).value();
                return new Experiment(sample, sluice.accepts() ? boundary : null, sluice);
            } catch (MultipartException e) {
                return new Experiment(sample, null, sluice);
            }
        }
    }

    private final Sample sample;
    private final Supplier<Anatomy> anatomy;
    private final Map<Set<Feature>, Experiment> experiments = new HashMap<>();
    private final Set<Feature> present = EnumSet.noneOf(Feature.class);

    /** Takes a body apart that STRICT accepts. */
    Diagnosis(Sample sample, String boundary) {
        this.sample = sample;
        Outcome outcome = ReferenceParser.parse(sample.contentType(), sample.bytes(), "STRICT");
        if (!outcome.isAccepted()) {
            throw new IllegalStateException("STRICT accepts what the reference parser refuses: " + sample.escaped());
        }
        this.anatomy = () -> new Anatomy(sample, boundary, outcome);
        if (!isSame(without(Set.of()))) {
            throw new IllegalStateException("taken apart wrongly: " + sample.escaped());
        }
        for (Feature feature : Feature.values()) {
            if (!isSame(without(Set.of(feature)))) {
                present.add(feature);
            }
        }
    }

    private boolean isSame(Sample changed) {
        return Arrays.equals(changed.bytes(), sample.bytes())
                && changed.contentType().equals(sample.contentType());
    }

    /** {@return a signature for each cause that is needed for the whole disagreement, of which this difference is the first} */
    List<Signature> causes(Contender contender, Function<Body, Reading> reader, Difference difference) {
        for (Feature feature : present) {
            if (!feature.isGeneral() && agree(contender, reader, EnumSet.of(feature))) {
                return List.of(new Signature(contender, difference, feature));
            }
        }
        Set<Feature> needed = EnumSet.copyOf(present);
        needed.removeIf(Feature::isGeneral);
        if (!agree(contender, reader, needed)) {
            needed = EnumSet.copyOf(present);
            if (!agree(contender, reader, needed)) {
                return List.of(new Signature(contender, difference, Feature.UNKNOWN));
            }
        }
        minimise(contender, reader, needed);
        Set<Signature> causes = new LinkedHashSet<>();
        for (Feature feature : needed) {
            Set<Feature> others = EnumSet.copyOf(needed);
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
        Experiment experiment = experiment(without);
        return Optional.ofNullable(experiment.boundary)
                .map(boundary -> reader.apply(experiment.sample.whole(boundary)))
                .filter(Reading::accepts);
    }

    private Optional<Difference> difference(Contender contender, Reading other, Set<Feature> without) {
        return Optional.ofNullable(contender.difference(experiment(without).sluice, other));
    }

    private Experiment experiment(Set<Feature> without) {
        return experiments.computeIfAbsent(Set.copyOf(without), features -> Experiment.of(without(features)));
    }
}
