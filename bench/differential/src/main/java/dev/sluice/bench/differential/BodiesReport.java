package dev.sluice.bench.differential;

import java.util.List;
import java.util.Map;

/**
 * What a comparison of generated bodies found.
 *
 * @param command as typed
 * @param date of the end, ISO 8601
 * @param machine processor, cores, memory, kernel
 * @param jvm name and version of the virtual machine
 * @param versions of every parser compared
 * @param seed of the bodies
 * @param seconds that it took
 * @param origins of the bodies
 * @param peers and how often they agreed
 * @param disagreements by signature
 * @param tolerated bodies that STANDARD accepts and STRICT does not, by deviation
 */
record BodiesReport(
        String command,
        String date,
        Map<String, String> machine,
        Map<String, String> jvm,
        Map<String, String> versions,
        long seed,
        long seconds,
        List<Origin> origins,
        List<Agreement> peers,
        List<Disagreement> disagreements,
        List<Tolerated> tolerated) {

    /**
     * Bodies of one origin.
     *
     * @param origin name of the constant
     * @param bodies in all
     * @param standard of these accepted by STANDARD, {@code strict} by STRICT
     */
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
