package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.Collection;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a comparison of generated bodies found; what is in it is counted up and recorded as it stands.
 *
 * @param disagreements by signature
 * @param tolerated bodies that STANDARD accepts and STRICT does not, by deviation
 */
record BodiesReport(
        @JsonUnwrapped Provenance provenance,
        long seed,
        Collection<Origin> origins,
        Collection<Agreement> peers,
        List<Disagreement> disagreements,
        Collection<Tolerated> tolerated) {
    /** Bodies of one origin, and how many of these each preset accepts. */
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
        @Nullable
        Difference add(Reading sluice, Reading other) {
            if (!other.accepts()) {
                refuses++;
                return null;
            }
            Difference difference = peer.difference(sluice, other);
            agrees += difference == null ? 1 : 0;
            differs += difference == null ? 0 : 1;
            return difference;
        }
    }

    /** Bodies that a parser reads otherwise than STRICT, for one reason: how many, and what both read in the shortest of them. */
    static final class Disagreement {
        public Contender peer;
        public Difference difference;
        public Feature feature;
        public long bodies;
        public String contentType;
        /** With escapes. */
        public String body;

        public String sluice;
        public String other;
        private int length = Integer.MAX_VALUE;

        static Disagreement of(Signature signature) {
            Disagreement disagreement = new Disagreement();
            disagreement.peer = signature.contender();
            disagreement.difference = signature.difference();
            disagreement.feature = signature.feature();
            return disagreement;
        }

        void add(Sample sample, Reading itsSluice, Reading itsOther) {
            bodies++;
            if (sample.bytes().length < length) {
                length = sample.bytes().length;
                contentType = sample.contentType();
                body = sample.escaped();
                sluice = itsSluice.describe();
                other = itsOther.describe();
            }
        }

        void add(Disagreement later) {
            bodies += later.bodies;
            if (later.length < length) {
                length = later.length;
                contentType = later.contentType;
                body = later.body;
                sluice = later.sluice;
                other = later.other;
            }
        }

        Signature signature() {
            return new Signature(peer, difference, feature);
        }
    }

    /** Bodies with a deviation that STANDARD reports. */
    record Tolerated(String deviation, long bodies, Collection<Agreement> peers) {
        static Tolerated of(String deviation, Collection<Agreement> peers) {
            Agreement any = peers.iterator().next();
            return new Tolerated(deviation, any.agrees + any.differs + any.refuses, peers);
        }
    }

    long sum(ToLongFunction<Origin> count) {
        return origins.stream().mapToLong(count).sum();
    }

    /** Disagreements for which there is no explanation. */
    List<Disagreement> unexplained() {
        return unexplained(disagreements);
    }

    static List<Disagreement> unexplained(List<Disagreement> disagreements) {
        return disagreements.stream()
                .filter(each -> Explanations.of(each.signature()).isEmpty())
                .toList();
    }
}
