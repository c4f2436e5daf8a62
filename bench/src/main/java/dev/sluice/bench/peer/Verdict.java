package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Truth;
import java.util.Optional;

/** Whether a parser reads a body rightly. */
public final class Verdict {

    private Verdict() {}

    /** Runs the peer once in the checking mode and once in the counting mode; says in one line what is wrong, if anything. */
    public static Optional<String> against(Peer peer, Body body) {
        for (Tally tally : new Tally[] {Tally.checking(), Tally.counting()}) {
            try {
                peer.run(tally);
            } catch (Exception e) {
                return Optional.of("refuses the body: " + e.getClass().getSimpleName());
            }
            Truth truth = body.truth();
            Truth found = tally.asTruth(truth);
            if (found.parts() != truth.parts()) {
                return Optional.of("finds %d parts of %d".formatted(found.parts(), truth.parts()));
            }
            if (found.octets() != truth.octets()) {
                return Optional.of("delivers %d octets of %d".formatted(found.octets(), truth.octets()));
            }
            if (!found.equals(truth)) {
                return Optional.of("delivers wrong octets or names");
            }
        }
        return Optional.empty();
    }
}
