package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Truth;
import java.util.Optional;

/** Whether a parser reads a body rightly. */
public final class Verdict {
    private Verdict() {}

    /**
     * Runs the peer once in the checking mode and once in the counting mode; says in one line what is wrong, if anything.
     *
     * @param readsNames whether it must tell the names too; if not, it must tell none
     */
    public static Optional<String> against(Peer peer, Body body, boolean readsNames) {
        for (Tally tally : new Tally[] {Tally.checking(), Tally.counting()}) {
            try {
                peer.run(tally);
            } catch (Exception e) {
                return Optional.of("refuses the body: " + e.getClass().getSimpleName());
            }
            Optional<String> wrong = wrong(tally.asTruth(), body.truth(), tally.checks(), readsNames);
            if (wrong.isPresent()) {
                return wrong;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> wrong(Truth found, Truth truth, boolean sums, boolean readsNames) {
        if (found.parts() != truth.parts()) {
            return Optional.of("finds %d parts of %d".formatted(found.parts(), truth.parts()));
        }
        if (found.bytes() != truth.bytes()) {
            return Optional.of("delivers %d bytes of %d".formatted(found.bytes(), truth.bytes()));
        }
        if (sums && found.checksum() != truth.checksum()) {
            return Optional.of("delivers wrong bytes");
        }
        if (found.nameChars() != (readsNames ? truth.nameChars() : 0)
                || (sums && readsNames && found.names() != truth.names())) {
            return Optional.of("tells wrong names");
        }
        return Optional.empty();
    }
}
