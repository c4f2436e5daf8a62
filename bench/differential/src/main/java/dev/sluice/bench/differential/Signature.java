package dev.sluice.bench.differential;

/** What a disagreement is recognised by: who reads what otherwise, and the feature without which the disagreement is gone. */
record Signature(Contender contender, Difference difference, Feature feature) {
    @Override
    public String toString() {
        return contender.id() + ": " + difference.title + ", because of " + feature.title;
    }
}
