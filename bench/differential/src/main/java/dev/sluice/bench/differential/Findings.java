package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.sluice.bench.peer.Body;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** Statistics of how parsers read bodies that STRICT accepts. Recorded as JSON. Several threads can add to it, each for another parser. */
final class Findings {
    private final Map<Contender, Agreement> peers;
    private final Map<Signature, Disagreement> disagreements = new ConcurrentHashMap<>();

    /** The number of bodies that a parser reads in the same way as Sluice, reads differently, or rejects. */
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

        /** Counts a body. Returns the first difference if both accept the body and read it differently. */
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

    /** The identity of a disagreement: the parser, the kind of difference, and the feature that causes it. */
    record Signature(Contender peer, Difference difference, Feature feature) {
        @Override
        public String toString() {
            return peer.id() + ": " + difference.title + ", because of " + feature.title;
        }
    }

    /**
     * Bodies that a parser reads differently from STRICT for one reason.
     *
     * @param bodies the number of bodies
     * @param body the shortest of them, with escapes
     * @param sluice the reading of the shortest body by Sluice
     * @param other the parser's reading of the shortest body
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

    Findings(Collection<Agreement> recorded, List<Disagreement> found) {
        peers = new TreeMap<>();
        recorded.forEach(each -> peers.put(each.peer, each));
        found.forEach(each -> disagreements.put(each.signature(), each));
    }

    /**
     * Counts a parser's reading of a body and, if it differs from Sluice's, determines the causes.
     *
     * @param reader the function that reads variants of the body with the parser
     */
    void add(Diagnosis body, Contender peer, Function<Body, Reading> reader, Reading other) {
        peers.get(peer).add(body.strict, other).ifPresent(difference -> {
            for (Signature cause : body.causes(peer, reader, difference)) {
                disagreements.merge(cause, Disagreement.of(cause, body, other), Disagreement::and);
            }
        });
    }

    /** Adds the findings about other bodies. */
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
