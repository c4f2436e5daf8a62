package dev.sluice.bench.differential;

import java.util.EnumSet;
import java.util.Set;

/**
 * Why some disagreements are what they are.
 *
 * @param contenders who reads so
 * @param differences what they read otherwise
 * @param features because of which
 * @param fault whose it is
 * @param rule where that is said
 * @param text what they do, in one line
 */
record Explanation(
        Set<Contender> contenders,
        Set<Difference> differences,
        Set<Feature> features,
        Fault fault,
        String rule,
        String text) {

    enum Fault {
        PEER("theirs"),
        OPEN("open: the standards allow both"),
        SLUICE("ours");

        private final String title;

        Fault(String title) {
            this.title = title;
        }

        String title() {
            return title;
        }
    }

    Explanation {
        contenders = EnumSet.copyOf(contenders);
        differences = EnumSet.copyOf(differences);
        features = EnumSet.copyOf(features);
    }

    boolean explains(Signature signature) {
        return contenders.contains(signature.contender())
                && differences.contains(signature.difference())
                && features.contains(signature.feature());
    }
}
