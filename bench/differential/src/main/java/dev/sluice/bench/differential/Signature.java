package dev.sluice.bench.differential;

/**
 * What a disagreement is recognised by.
 *
 * @param contender who reads the body otherwise than Sluice
 * @param difference what it reads otherwise
 * @param feature of the body without which the disagreement is gone
 */
record Signature(Contender contender, Difference difference, Feature feature) {
    @Override
    public String toString() {
        return contender.id() + ": " + difference.title() + ", because of " + feature.title();
    }
}
