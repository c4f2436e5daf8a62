package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.bench.peer.Body;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** How parsers read what STRICT accepts, counted up; it is recorded as it stands. One thread. */
final class Findings {
    private final Map<Contender, Agreement> peers;
    private final Map<Signature, Disagreement> disagreements = new HashMap<>();

    /** How a parser reads bodies that Sluice accepts. */
    static final class Agreement {
        public final Contender peer;
        public long agrees;
        public long differs;
        public long refuses;

        @JsonCreator
        Agreement(@JsonProperty("peer") Contender peer) {
            this.peer = peer;
        }

        static Map<Contender, Agreement> of(List<Contender> contenders) {
            Map<Contender, Agreement> agreements = new TreeMap<>();
            contenders.forEach(contender -> agreements.put(contender, new Agreement(contender)));
            return agreements;
        }

        @Override
        public String toString() {
            return "%s: %,d agree, %,d differ, %,d refuse".formatted(peer.id(), agrees, differs, refuses);
        }

        void add(Agreement others) {
            agrees += others.agrees;
            differs += others.differs;
            refuses += others.refuses;
        }

        /** {@return how the two differ, if both accept the body} */
        Optional<Difference> add(Reading sluice, Reading other) {
            if (!other.accepts()) {
                refuses++;
                return Optional.empty();
            }
            Optional<Difference> difference = peer.difference(sluice, other);
            agrees += difference.isEmpty() ? 1 : 0;
            differs += difference.isEmpty() ? 0 : 1;
            return difference;
        }
    }

    /** What a disagreement is recognised by: who reads what otherwise, and the feature without which the disagreement is gone. */
    record Signature(Contender peer, Difference difference, Feature feature) {
        @Override
        public String toString() {
            return peer.id() + ": " + difference.title + ", because of " + feature.title;
        }
    }

    /**
     * Bodies that a parser reads otherwise than STRICT, for one reason: how many, and what both read in the shortest of them.
     *
     * @param body with escapes
     */
    record Disagreement(
            @JsonUnwrapped Signature signature,
            long bodies,
            String contentType,
            String body,
            String sluice,
            String other) {
        static Disagreement of(Signature signature, Diagnosis body, Reading other) {
            Sample sample = body.sample;
            String sluice = body.strict.describe();
            return new Disagreement(signature, 1, sample.contentType(), sample.escaped(), sluice, other.describe());
        }

        Disagreement and(Disagreement later) {
            Disagreement shorter = later.body.length() < body.length() ? later : this;
            long both = bodies + later.bodies;
            return new Disagreement(signature, both, shorter.contentType, shorter.body, shorter.sluice, shorter.other);
        }
    }

    Findings(List<Contender> contenders) {
        peers = Agreement.of(contenders);
    }

    /**
     * Counts what one of them reads, and where that is something else finds out why.
     *
     * @param reader reads changed bodies in the same way
     */
    void add(Diagnosis body, Contender peer, Function<Body, Reading> reader, Reading other) {
        peers.get(peer).add(body.strict, other).ifPresent(difference -> {
            for (Signature cause : body.causes(peer, reader, difference)) {
                disagreements.merge(cause, Disagreement.of(cause, body, other), Disagreement::and);
            }
        });
    }

    /** Adds what was found elsewhere in other bodies. */
    void add(Findings others) {
        peers.forEach((contender, counts) -> counts.add(others.peers.get(contender)));
        others.disagreements.forEach((signature, found) -> disagreements.merge(signature, found, Disagreement::and));
    }

    Collection<Agreement> peers() {
        return peers.values();
    }

    List<Disagreement> disagreements() {
        return disagreements.values().stream()
                .sorted(Comparator.comparing(found -> found.signature().toString()))
                .toList();
    }
}
