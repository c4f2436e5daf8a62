package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * What a comparison of generated bodies found.
 *
 * @param disagreements by signature
 * @param tolerated bodies that STANDARD accepts and STRICT does not, by deviation
 */
record BodiesReport(
        @JsonUnwrapped Provenance provenance,
        long seed,
        List<Origin> origins,
        List<Agreement> peers,
        List<Disagreement> disagreements,
        List<Tolerated> tolerated) {
    /** Bodies of one origin, and how many of these each preset accepts. */
    record Origin(String origin, long bodies, long standard, long strict) {}

    /** How a parser reads bodies that Sluice accepts. */
    record Agreement(String peer, long agrees, long differs, long refuses) {}

    /**
     * Bodies that a parser reads otherwise than STRICT, for one reason.
     *
     * @param bodies how many
     * @param contentType of the shortest of them, {@code body} its bytes with escapes, and what both read in it
     */
    record Disagreement(
            String peer,
            String difference,
            String feature,
            long bodies,
            String contentType,
            String body,
            String sluice,
            String other) {
        Signature signature() {
            return new Signature(Contender.of(peer), Difference.valueOf(difference), Feature.valueOf(feature));
        }
    }

    /** Bodies with a deviation that STANDARD reports. */
    record Tolerated(String deviation, long bodies, List<Agreement> peers) {}

    long bodies() {
        return origins.stream().mapToLong(Origin::bodies).sum();
    }

    long strict() {
        return origins.stream().mapToLong(Origin::strict).sum();
    }

    long standard() {
        return origins.stream().mapToLong(Origin::standard).sum();
    }

    /** Disagreements for which there is no explanation, or one that says that Sluice is wrong. */
    List<Disagreement> unexplained() {
        return disagreements.stream()
                .filter(each -> Explanations.of(each.signature())
                        .filter(explanation -> explanation.fault() != Explanations.Fault.SLUICE)
                        .isEmpty())
                .toList();
    }
}
