package dev.sluice.testkit;

import java.util.ArrayList;
import java.util.List;

/** Judges deviations by the rules of a preset and keeps those that are accepted, each kind once per part. */
final class DeviationLog {
    private final PresetRules rules;
    private final List<Outcome.Deviation> reported = new ArrayList<>(2);
    private final List<Outcome.Deviation> silent = new ArrayList<>(2);

    DeviationLog(PresetRules rules) {
        this.rules = rules;
    }

    boolean accepts(String kind) {
        return rules.accepts(kind);
    }

    /** Notes a deviation, or throws the failure that its refusal is. */
    void met(String kind, String reason, int part, long offset) {
        if (rules.reported().contains(kind)) {
            addOnce(reported, new Outcome.Deviation(kind, part, offset));
        } else if (rules.silent().contains(kind)) {
            addOnce(silent, new Outcome.Deviation(kind, part, offset));
        } else {
            throw new Failure(reason, offset, part);
        }
    }

    private static void addOnce(List<Outcome.Deviation> list, Outcome.Deviation deviation) {
        for (Outcome.Deviation before : list) {
            if (before.part() == deviation.part() && before.kind().equals(deviation.kind())) {
                return;
            }
        }
        list.add(deviation);
    }

    List<Outcome.Deviation> reported() {
        return List.copyOf(reported);
    }

    List<Outcome.Deviation> silent() {
        return List.copyOf(silent);
    }

    /** The body is refused. Cheap: generated bodies fail by the hundred thousand. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final String reason;
        private final long offset;
        private final int part;

        Failure(String reason, long offset, int part) {
            super(reason, null, false, false);
            this.reason = reason;
            this.offset = offset;
            this.part = part;
        }

        Outcome.Error error() {
            return new Outcome.Error(reason, offset, part);
        }
    }
}
